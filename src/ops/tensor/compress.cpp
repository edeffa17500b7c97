// Compress: the entries of an axis (or of the flattened input) whose condition is true.
#include <numeric>

#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/grid_copy.h"

namespace assay::op_onnx_Compress {
namespace {

void infer(InferContext& c) {
  const Dims *in = c.input_dims(0), *condition = c.input_dims(1);
  c.check(condition == nullptr || condition->size() == 1, "condition must be a vector");
  if (!c.has_attr("axis")) return c.set_output(0, c.input_dtype(0), {Dim()});
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims out = *in;
  out[static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(out.size())))] = Dim();
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void eval(EvalContext& c) {
  const bool flat = !c.has_attr("axis");
  const Tensor x = flat ? c.input(0).reshaped({c.input(0).numel()}) : c.input(0);
  const auto axis = static_cast<size_t>(flat ? 0 : normalize_axis(c.attr_int("axis"), x.rank()));
  c.check(c.input(1).rank() == 1 && c.input(1).numel() <= x.dim(axis),
          "condition of shape {} for an axis of extent {}", c.shape(1).str(), x.dim(axis));
  std::vector<std::vector<int64_t>> tables;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    std::vector<int64_t>& table = tables.emplace_back();
    if (d == axis) {
      for (int64_t i = 0; i < c.input(1).numel(); ++i)
        if (c.input(1).data<bool>()[i]) table.push_back(i);
    } else {
      table.resize(static_cast<size_t>(x.dim(d)));
      std::iota(table.begin(), table.end(), int64_t{0});
    }
  }
  c.set_output(0, copy_grid(x, tables));
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  input: T
in  condition: T1
out output: T
attr axis: int
type T: @all
type T1: bool)",
     infer, eval},
    {11, "same as Compress-9", infer, eval},
    {28, R"(
in  input: T
in  condition: T1
out output: T
attr axis: int
type T: @all_ir4
type T1: bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Compress",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
        },
};

}  // namespace assay::op_onnx_Compress
