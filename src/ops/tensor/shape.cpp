// Shape: the extents of the input as a vector; from opset 15 those of dimensions [start, end) only, which are
// clamped.
#include <algorithm>

#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Shape {
namespace {

struct DimensionRange {
  size_t first, last;
};

DimensionRange dimension_range(const OpContext& c, size_t dimensions) {
  const auto rank = static_cast<int64_t>(dimensions);
  if (c.since() < 15) return {0, dimensions};
  const auto clamped = [&](int64_t i) {
    return static_cast<size_t>(std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank));
  };
  const size_t first = clamped(c.attr_int("start")), last = clamped(c.attr_int("end", rank));
  return {first, std::max(first, last)};
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, DType::kInt64, {Dim()});
  const DimensionRange r = dimension_range(c, in->size());
  c.set_output(0, DType::kInt64, {Dim(static_cast<int64_t>(r.last - r.first))});
  c.set_output_extents(0, Dims(in->begin() + static_cast<std::ptrdiff_t>(r.first),
                               in->begin() + static_cast<std::ptrdiff_t>(r.last)));
}

void eval(EvalContext& c) {
  const std::vector<int64_t>& in = c.shape(0).dims();
  const DimensionRange r = dimension_range(c, in.size());
  c.set_output(0, Tensor::vector(std::vector<int64_t>(in.begin() + static_cast<std::ptrdiff_t>(r.first),
                                                      in.begin() + static_cast<std::ptrdiff_t>(r.last))));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out shape: T1
type T: @all
type T1: int64)",
     infer, eval},
    {13, R"(
in  data: T
out shape: T1
type T: @all_ir4
type T1: int64)",
     infer, eval},
    {15, R"(
in  data: T
out shape: T1
attr end: int
attr start: int = 0
type T: @all_ir4
type T1: int64)",
     infer, eval},
    {19, R"(
in  data: T
out shape: T1
attr end: int
attr start: int = 0
type T: @all_ir9
type T1: int64)",
     infer, eval},
    {21, R"(
in  data: T
out shape: T1
attr end: int
attr start: int = 0
type T: @all_ir10
type T1: int64)",
     infer, eval},
    {23, R"(
in  data: T
out shape: T1
attr end: int
attr start: int = 0
type T: @all_ir11
type T1: int64)",
     infer, eval},
    {24, R"(
in  data: T
out shape: T1
attr end: int
attr start: int = 0
type T: @all_ir12
type T1: int64)",
     infer, eval},
    {25, R"(
in  data: T
out shape: T1
attr end: int
attr start: int = 0
type T: @all_ir13
type T1: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Shape",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kExtents,
            .is_total = true,
        },
};

}  // namespace assay::op_onnx_Shape
