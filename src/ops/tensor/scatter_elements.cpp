// ScatterElements: a copy of data in which each update stands at its own coordinates with the index in place
// of the one along the axis; a reduction joins it with what is there.
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/element_index.h"

namespace assay {
namespace {

void infer(InferContext& c) {
  const Dims *data = c.input_dims(0), *indices = c.input_dims(1), *updates = c.input_dims(2);
  scatter_reduction(c);
  if (data != nullptr) normalize_axis(c.attr_int("axis"), static_cast<int>(data->size()));
  if (indices != nullptr && updates != nullptr) {
    c.check(indices->size() == updates->size(), "indices has rank {}, updates has rank {}", indices->size(),
            updates->size());
    for (size_t d = 0; d < indices->size(); ++d) merge_dim((*indices)[d], (*updates)[d]);
  }
  infer_same_as_input(c);
}

std::vector<int64_t> positions_of(EvalContext& c) {
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), c.input(0).rank()));
  return element_positions(c.shape(0), c.input(1), axis);
}

void eval(EvalContext& c) {
  c.check(c.shape(1) == c.shape(2), "indices has shape {}, updates has shape {}", c.shape(1).str(),
          c.shape(2).str());
  Tensor y = c.input(0);
  scatter_slices(y, positions_of(c), 1, c.input(2), scatter_reduction(c));
  c.set_output(0, std::move(y));
}

int64_t terms(EvalContext& c) {
  const ScatterReduction r = scatter_reduction(c);
  return r == ScatterReduction::kAdd || r == ScatterReduction::kMul ? most_updates(positions_of(c)) : 0;
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  data: T
in  indices: Tind
in  updates: T
out output: T
attr axis: int = 0
type T: @all
type Tind: int32 int64)",
     infer, eval},
    {13, R"(
in  data: T
in  indices: Tind
in  updates: T
out output: T
attr axis: int = 0
type T: @all_ir4
type Tind: int32 int64)",
     infer, eval},
    {16, R"(
in  data: T
in  indices: Tind
in  updates: T
out output: T
attr reduction: string = "none"
attr axis: int = 0
type T: @all_ir4
type Tind: int32 int64)",
     infer, eval},
    {18, R"(
in  data: T
in  indices: Tind
in  updates: T
out output: T
attr reduction: string = "none"
attr axis: int = 0
type T: @all_ir4
type Tind: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef op_onnx_ScatterElements = {
    .domain = "",
    .name = "ScatterElements",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = terms},
};

}  // namespace assay
