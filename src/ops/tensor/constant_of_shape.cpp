// ConstantOfShape: a tensor of the shape that the input gives, filled with one value (float32 zero by
// default).
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_ConstantOfShape {
namespace {

Tensor value_of(const OpContext& c) {
  const Tensor value = c.has_attr("value") ? c.attr_tensor("value").aligned() : Tensor::scalar(0.0f);
  c.check(value.numel() == 1, "value must have one element, it has shape {}", value.shape().str());
  return value;
}

/// A vector of known length whose value is an integer.
void propagate(InferContext& c, const Tensor& value, const Dim& length) {
  if (!is_integer(value.dtype()) || bit_width(value.dtype()) < 32 || !length.is_known()) return;
  if (length.value() > static_cast<int64_t>(kLongestExtents)) return;
  const int64_t v = value.to_int64()[0];
  c.set_output_extents(0, Dims(static_cast<size_t>(length.value()), v >= 0 ? Dim(v) : Dim()));
}

void infer(InferContext& c) {
  check_list(c, 0);
  const Tensor value = value_of(c);
  if (const Dims* extents = c.input_extents(0)) {
    c.set_output(0, value.dtype(), *extents);
    if (extents->size() == 1) propagate(c, value, (*extents)[0]);
    return;
  }
  const int64_t rank = known_length(c, 0);
  if (rank < 0 || rank > static_cast<int64_t>(kLongestExtents)) return c.set_output(0, value.dtype());
  c.set_output(0, value.dtype(), Dims(static_cast<size_t>(rank)));
}

void eval(EvalContext& c) {
  const Tensor value = value_of(c);
  const Shape shape(integer_list(c, 0));
  for (const int64_t d : shape) c.check(d >= 0, "the shape has the negative extent {}", d);
  Tensor y = checked_allocation(unpacked_dtype(value.dtype()), shape);
  fill_elements(y, unpacked(value));
  c.set_output(0, repacked(std::move(y), value.dtype()));
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  input: T1
out output: T2
attr value: tensor
type T1: int64
type T2: @numeric bool)",
     infer, eval},
    {20, R"(
in  input: T1
out output: T2
attr value: tensor
type T1: int64
type T2: @numeric_ir4 bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz)",
     infer, eval},
    {21, R"(
in  input: T1
out output: T2
attr value: tensor
type T1: int64
type T2: @numeric_ir4 uint4 int4 bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz)",
     infer, eval},
    {23, R"(
in  input: T1
out output: T2
attr value: tensor
type T1: int64
type T2: @numeric_ir4 uint4 int4 bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float4e2m1)",
     infer, eval},
    {24, R"(
in  input: T1
out output: T2
attr value: tensor
type T1: int64
type T2: @numeric_ir4 uint4 int4 bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float4e2m1 float8e8m0)",
     infer, eval},
    {25, R"(
in  input: T1
out output: T2
attr value: tensor
type T1: int64
type T2: @numeric_ir4 uint4 int4 bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float4e2m1 float8e8m0 uint2 int2)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ConstantOfShape",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 0}}},
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_ConstantOfShape
