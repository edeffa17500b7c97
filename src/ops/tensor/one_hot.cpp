// OneHot: a new axis of extent `depth` on which the position that the index names takes the on-value and
// every other the off-value. An index outside [-depth, depth) names no position.
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "tensor/convert.h"

namespace assay::op_onnx_OneHot {
namespace {

/// The depth when it is known before the model runs.
Dim known_depth(const InferContext& c) {
  if (const Dims* extents = c.input_extents(1)) return extents->size() == 1 ? (*extents)[0] : Dim();
  const Tensor* value = c.input_value(1);
  if (value == nullptr || value->numel() != 1) return {};
  const int64_t depth = convert(*value, DType::kInt64).item<int64_t>();
  return depth < 0 ? Dim() : Dim(depth);
}

void infer(InferContext& c) {
  const Dims* indices = c.input_dims(0);
  if (indices == nullptr) return c.set_output(0, c.input_dtype(2));
  Dims out = *indices;
  const int axis = normalize_axis(c.attr_int("axis"), static_cast<int>(out.size()) + 1);
  out.insert(out.begin() + axis, known_depth(c));
  c.set_output(0, c.input_dtype(2), std::move(out));
}

void eval(EvalContext& c) {
  c.check(c.input(1).numel() == 1, "depth must have one element, it has shape {}", c.shape(1).str());
  c.check(c.shape(2) == Shape{2}, "values must be the off-value and the on-value, they have shape {}",
          c.shape(2).str());
  const int64_t depth = convert(c.input(1), DType::kInt64).item<int64_t>();
  c.check(depth >= 0, "depth is {}", depth);
  Shape out = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), out.rank() + 1));
  out.insert_at(axis, depth);
  const int64_t inner = out.numel(axis + 1, out.size());
  const Tensor values = unpacked(c.input(2));
  const Tensor indices = convert(c.input(0), DType::kInt64);
  Tensor y = checked_allocation(values.dtype(), out);
  visit_elements(values.dtype(), [&]<typename E>() {
    const E off = elements<E>(values)[0], on = elements<E>(values)[1];
    E* to = mutable_elements<E>(y);
    std::fill_n(to, y.numel(), off);
    const int64_t* at = indices.data<int64_t>();
    for (int64_t i = 0; i < indices.numel(); ++i) {
      if (at[i] < -depth || at[i] >= depth) continue;
      const int64_t place = at[i] < 0 ? at[i] + depth : at[i];
      to[(i / inner * depth + place) * inner + i % inner] = on;
    }
  });
  c.set_output(0, repacked(std::move(y), c.input(2).dtype()));
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  indices: T1
in  depth: T2
in  values: T3
out output: T3
attr axis: int = -1
type T1: @numeric
type T2: @numeric
type T3: @all)",
     infer, eval},
    {11, "same as OneHot-9", infer, eval},
    {28, R"(
in  indices: T1
in  depth: T2
in  values: T3
out output: T3
attr axis: int = -1
type T1: @numeric
type T2: @numeric
type T3: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "OneHot",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_OneHot
