// Quantization: scales of an axis, and types named by attributes.
#include "convert/rewrite.h"
#include "convert/steps.h"

namespace assay {
namespace {

bool is_per_tensor(Rewrite& r) {
  const std::optional<Shape> shape = shape_of(r.input(1));
  if (shape && shape->numel() == 1) return true;
  return r.rank(1) == 0;
}

/// A scale or zero point of an axis, with ones for the axes after it.
Value* along_axis(Rewrite& r, Value* v, int64_t axis) {
  std::vector<int64_t> shape(static_cast<size_t>(r.rank(0) - axis), 1);
  shape[0] = -1;
  return r.add("Reshape", {v, r.ints(shape, "shape")});
}

void dequantize_axis(Rewrite& r, int64_t axis) {
  Value* x = cast(r, r.input(0), DType::kFloat32);
  if (r.input(2) != nullptr) x = r.add("Sub", {x, along_axis(r, cast(r, r.input(2), DType::kFloat32), axis)});
  r.replace({r.add("Mul", {x, along_axis(r, r.input(1), axis)})});
}

void quantize_axis(Rewrite& r, int64_t axis) {
  r.set_opset(12);
  const DType to = r.input(2) != nullptr ? r.dtype(2) : DType::kUInt8;
  const bool is_signed = to == DType::kInt8;
  Value* x = cast(r, r.input(0), DType::kFloat32);
  x = r.add("Round", {r.add("Div", {x, along_axis(r, r.input(1), axis)})});
  if (r.input(2) != nullptr) x = r.add("Add", {x, along_axis(r, cast(r, r.input(2), DType::kFloat32), axis)});
  x = r.add("Clip", {x, r.number(is_signed ? -128 : 0, DType::kFloat32, "low"),
                     r.number(is_signed ? 127 : 255, DType::kFloat32, "high")});
  r.replace({cast(r, x, to)});
}

/// One scale for everything stays; scales of an axis become arithmetic.
void leave_axis(Rewrite& r) {
  const int64_t axis = r.get_int("axis", 1);
  r.node().remove_attribute("axis");
  if (is_per_tensor(r)) return;
  const int64_t front = r.front_axis(axis, 0);
  if (front < 0 || front >= r.rank(0)) no_equivalent("the attribute 'axis' = {}", axis);
  if (r.node().op_type == "QuantizeLinear")
    quantize_axis(r, front);
  else
    dequantize_axis(r, front);
}

/// A zero point determines the type, too.
void zero_point_from_type(Rewrite& r) {
  const auto to = static_cast<DType>(r.get_int("output_dtype", 0));
  r.node().remove_attribute("output_dtype");
  if (to == DType::kUndefined || to == DType::kUInt8 || r.input(2) != nullptr) return;
  if (!is_integer(to) || is_packed(to)) no_equivalent("the attribute 'output_dtype' = {}", dtype_name(to));
  r.node().set_input(2, r.constant(Tensor::zeros(to, r.shape(1)), "zero_point"));
}

void type_from_scale(Rewrite& r) {
  const auto to = static_cast<DType>(r.get_int("output_dtype", 0));
  if (to != DType::kUndefined && to == r.dtype(1)) r.node().remove_attribute("output_dtype");
}

/// They concern 8-bit floats only, which an older version does not have.
void drop_float8_flags(Rewrite& r) {
  r.node().remove_attribute("saturate");
  r.node().remove_attribute("round_mode");
}

void drop_e8m0_rounding(Rewrite& r) { r.node().remove_attribute("round_mode"); }

}  // namespace

constinit const Adapter adapter_per_axis_scale = {
    .name = "per_axis_scale", .summary = "scales may be those of an axis", .down = leave_axis};
constinit const Adapter adapter_quantized_type = {
    .name = "quantized_type", .summary = "an attribute may name the type", .down = zero_point_from_type};
constinit const Adapter adapter_dequantized_type = {
    .name = "dequantized_type", .summary = "an attribute may name the type", .down = type_from_scale};
constinit const Adapter adapter_float8_flags = {
    .name = "float8_flags", .summary = "how 8-bit floats overflow", .down = drop_float8_flags};
constinit const Adapter adapter_e8m0_rounding = {
    .name = "e8m0_rounding", .summary = "how powers of two are rounded to", .down = drop_e8m0_rounding};

}  // namespace assay
