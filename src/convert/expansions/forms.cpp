// Operators that older versions have under another name, or as a few basic ones.
#include "convert/rewrite.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

void rename_to_scatter(Rewrite& r) {
  r.node().op_type = "Scatter";
  const int64_t axis = r.get_int("axis", 0);
  if (axis < 0) r.node().set_attribute("axis", r.front_axis(axis, 0));
}

/// The predecessor only enlarges.
void rename_to_upsample(Rewrite& r) {
  const Tensor scales = to_float64(r.constant_input(1, "scales"));
  for (const double s : scales.span<double>())
    if (s < 1) no_equivalent("Upsample does not shrink, and a scale is {}", s);
  r.node().op_type = "Upsample";
}

/// Or, because a NaN is neither greater nor less.
void compare_or_equal(Rewrite& r, const char* strict) {
  Value* is_strict = r.add(strict, {r.input(0), r.input(1)});
  r.replace({r.add("Or", {is_strict, r.add("Equal", {r.input(0), r.input(1)})})});
}
void expand_greater_or_equal(Rewrite& r) { compare_or_equal(r, "Greater"); }
void expand_less_or_equal(Rewrite& r) { compare_or_equal(r, "Less"); }

void expand_cast_like(Rewrite& r) {
  AttributeList attributes = {{"to", static_cast<int64_t>(r.dtype(1))}};
  r.replace({r.add("Cast", {r.input(0)}, std::move(attributes))});
}

/// Rounding and saturation of the zero point are those of a quantization with the scale 1.
void expand_dynamic_quantize_linear(Rewrite& r) {
  const DType t = DType::kFloat32;
  Value *x = r.input(0), *zero = r.number(0, t, "zero");
  const AttributeList all = {{"keepdims", int64_t{0}}};
  Value* low = r.add("Min", {r.add("ReduceMin", {x}, all), zero});
  Value* high = r.add("Max", {r.add("ReduceMax", {x}, all), zero});
  Value *range = r.add("Sub", {high, low}), *levels = r.number(255, t, "levels");
  // Without a range the scale is 1.
  Value* has_none = r.add("Not", {r.add("Cast", {range}, {{"to", static_cast<int64_t>(DType::kBool)}})});
  Value* filling = r.add("Mul", {r.add("Cast", {has_none}, {{"to", static_cast<int64_t>(t)}}), levels});
  Value* scale = r.add("Div", {r.add("Add", {range, filling}), levels});
  Value* wanted = r.add("Sub", {zero, r.add("Div", {low, scale})});
  Value* zero_level = r.constant(Tensor::scalar(uint8_t{0}), "zero_level");
  Value* zero_point = r.add("QuantizeLinear", {wanted, r.number(1, t, "one"), zero_level});
  r.replace({r.add("QuantizeLinear", {x, scale, zero_point}), scale, zero_point});
}

/// A random number below p for each element.
void expand_bernoulli(Rewrite& r) {
  AttributeList attributes = {{"dtype", static_cast<int64_t>(r.dtype(0))}};
  if (const Attribute* seed = r.node().find_attribute("seed")) attributes.emplace_back("seed", seed->data);
  Value* below = r.add("Less", {r.add("RandomUniformLike", {r.input(0)}, attributes), r.input(0)});
  const int64_t to = r.get_int("dtype", static_cast<int64_t>(r.dtype(0)));
  r.replace({r.add("Cast", {below}, {{"to", to}})});
  r.note("other random numbers are drawn");
}

/// Compares row and column indices, and zeroes elements on the wrong side of the diagonal.
void expand_trilu(Rewrite& r) {
  Value* shape = r.add("Shape", {r.input(0)});
  const auto count = [&](int64_t axis) {
    Value* extent = r.add("Gather", {shape, r.constant(Tensor::scalar(axis), "axis")});
    return r.add("Range", {r.constant(Tensor::scalar(int64_t{0}), "first"), extent,
                           r.constant(Tensor::scalar(int64_t{1}), "step")});
  };
  Value* rows = r.add("Unsqueeze", {count(-2), r.ints({1}, "column")});
  if (r.input(1) != nullptr) rows = r.add("Add", {rows, r.input(1)});
  Value* columns = count(-1);
  // Columns before the diagonal k are those with column < row + k.
  const bool upper = r.get_int("upper", 1) != 0;
  Value* is_out = upper ? r.add("Less", {columns, rows}) : r.add("Greater", {columns, rows});
  const DType t = r.dtype(0);
  if (t == DType::kString) no_equivalent("strings");
  r.replace({r.add("Where", {is_out, r.constant(Tensor::zeros(t, {}), "zero"), r.input(0)})});
}

}  // namespace

constinit const Expansion expansion_onnx_Bernoulli = {"", "Bernoulli", 13, "RandomUniformLike and Less",
                                                      expand_bernoulli};
constinit const Expansion expansion_onnx_CastLike = {"", "CastLike", 14, "Cast", expand_cast_like};
constinit const Expansion expansion_onnx_DynamicQuantizeLinear = {
    "", "DynamicQuantizeLinear", 10, "extrema and QuantizeLinear", expand_dynamic_quantize_linear};
constinit const Expansion expansion_onnx_GreaterOrEqual = {"", "GreaterOrEqual", 11, "Greater or Equal",
                                                           expand_greater_or_equal};
constinit const Expansion expansion_onnx_LessOrEqual = {"", "LessOrEqual", 11, "Less or Equal",
                                                        expand_less_or_equal};
constinit const Expansion expansion_onnx_Resize = {"", "Resize", 9, "Upsample", rename_to_upsample};
constinit const Expansion expansion_onnx_ScatterElements = {"", "ScatterElements", 10, "Scatter",
                                                            rename_to_scatter};
constinit const Expansion expansion_onnx_Trilu = {"", "Trilu", 13, "Range, comparison and Where",
                                                  expand_trilu};

}  // namespace assay
