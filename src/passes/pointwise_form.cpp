#include "passes/pointwise_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/match.h"
#include "analysis/quantization.h"
#include "ops/node_facts.h"
#include "passes/region.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using kernels::PointwiseOp;

struct Named {
  std::string_view name;
  PointwiseOp op;
};
constexpr Named kRegions[] = {
    {kSilu, PointwiseOp::kSilu}, {kHardSwish, PointwiseOp::kHardSwish}, {kMish, PointwiseOp::kMish},
    {kGelu, PointwiseOp::kGelu}, {kGeluTanh, PointwiseOp::kGeluTanh},
};

std::optional<PointwiseOp> find_region(std::string_view name) {
  for (const Named& entry : kRegions)
    if (entry.name == name) return entry.op;
  return std::nullopt;
}

/// Whether inputs from `first` on are there and of one type.
bool are_of_type(const Node& n, size_t first, DType dtype) {
  return std::all_of(n.inputs().begin() + static_cast<std::ptrdiff_t>(first), n.inputs().end(),
                     [&](const Value* v) { return v != nullptr && dtype_of(v) == dtype; });
}

/// Whether multiplying by the reciprocal gives what dividing does: only for powers of two.
bool has_exact_reciprocal(float c) {
  int exponent;
  return std::abs(std::frexp(c, &exponent)) == 0.5F && exponent > -100 && exponent < 100;
}

/// y = a * x + b.
PointwiseForm affine_form(Value* x, float a, float b) { return {PointwiseOp::kAffine, a, b, {x}}; }

/// Powers of whole and half exponents become what they are.
std::optional<PointwiseForm> power_form(Value* x, float exponent) {
  if (exponent == 2) return PointwiseForm{PointwiseOp::kSquare, 0, 0, {x}};
  if (exponent == 0.5F) return PointwiseForm{PointwiseOp::kSqrt, 0, 0, {x}};
  if (exponent == -1) return PointwiseForm{PointwiseOp::kReciprocal, 0, 0, {x}};
  if (exponent == 1) return affine_form(x, 1, 0);
  return std::nullopt;
}

/// Add, Sub and Mul by a number become one multiply-add.
std::optional<PointwiseForm> with_number(const Node& n, PointwiseOp op) {
  const std::optional<double> left = scalar_of(n.input(0)), right = scalar_of(n.input(1));
  if (left.has_value() == right.has_value()) return std::nullopt;
  Value* x = right ? n.input(0) : n.input(1);
  const auto c = static_cast<float>(right ? *right : *left);
  // The number must not enlarge the result.
  if (rank_of(right ? n.input(1) : n.input(0)) > rank_of(x)) return std::nullopt;
  switch (op) {
    case PointwiseOp::kAdd:
      return affine_form(x, 1, c);
    case PointwiseOp::kMul:
      return affine_form(x, c, 0);
    case PointwiseOp::kSub:
      return right ? affine_form(x, 1, -c) : affine_form(x, -1, c);
    case PointwiseOp::kDiv:
      return right && has_exact_reciprocal(c) ? std::optional(affine_form(x, 1 / c, 0)) : std::nullopt;
    case PointwiseOp::kPow:
      return right ? power_form(x, c) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// The bound of a Clip: attribute in old opsets, input in new ones; nothing when it is not a number.
std::optional<float> bound(const Node& n, std::string_view attribute, size_t input, float otherwise) {
  if (n.find_attribute(attribute) != nullptr)
    return static_cast<float>(float_attribute(n, attribute, otherwise));
  if (n.input(input) == nullptr) return otherwise;
  const std::optional<double> x = scalar_of(n.input(input));
  return x ? std::optional(static_cast<float>(*x)) : std::nullopt;
}

bool is_half(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

std::optional<PointwiseForm> cast_form(const Node& n, DType to) {
  const DType from = dtype_of(n.input(0));
  const auto form = [&](PointwiseOp op) { return PointwiseForm{op, 0, 0, {n.input(0)}}; };
  const std::optional<DType> loaded = register_of(from);
  if (!loaded) return std::nullopt;
  switch (to) {
    case DType::kFloat32:
      return form(*loaded == DType::kFloat32 ? PointwiseOp::kCopy : PointwiseOp::kToFloat32);
    case DType::kFloat64:
      return form(PointwiseOp::kToFloat64);
    case DType::kInt8:
      return form(PointwiseOp::kToInt8);
    case DType::kUInt8:
      return form(PointwiseOp::kToUint8);
    case DType::kInt16:
      return form(PointwiseOp::kToInt16);
    case DType::kUInt16:
      return form(PointwiseOp::kToUint16);
    case DType::kInt32:
      return form(PointwiseOp::kToInt32);
    case DType::kUInt32:
      return form(PointwiseOp::kToUint32);
    case DType::kInt64:
      return form(PointwiseOp::kToInt64);
    case DType::kUInt64:
      return form(PointwiseOp::kToUint64);
    case DType::kBool:
      return form(PointwiseOp::kToBool);
    case DType::kFloat16:
    case DType::kBFloat16:
      if (*loaded != DType::kFloat32) return std::nullopt;
      return form(to == DType::kFloat16 ? PointwiseOp::kRoundToFloat16 : PointwiseOp::kRoundToBfloat16);
    default:
      return std::nullopt;
  }
}

std::optional<PointwiseForm> quantized_form(const Node& n, const Quantization& q) {
  const PointwiseOp op = is_op(n, "DequantizeLinear") ? PointwiseOp::kDequantize
                         : q.dtype == DType::kUInt8   ? PointwiseOp::kQuantizeUint8
                                                      : PointwiseOp::kQuantizeInt8;
  return PointwiseForm{op, q.scale, static_cast<float>(q.zero_point), {n.input(0)}, true};
}

/// Clip of float32 by bounds that are numbers.
std::optional<PointwiseForm> clip_form(const Node& n) {
  constexpr float kUnbounded = std::numeric_limits<float>::infinity();
  const std::optional<float> low = bound(n, "min", 1, -kUnbounded), high = bound(n, "max", 2, kUnbounded);
  // Bounds the wrong way round, and NaN, are clamp_form()'s.
  if (!low || !high || !(*low <= *high)) return std::nullopt;
  return PointwiseForm{PointwiseOp::kClip, *low, *high, {n.input(0)}};
}

/// Clip by bounds that are operands: they must be single elements, or the result would be larger.
std::optional<PointwiseForm> clamp_form(const Node& n) {
  if (n.find_attribute("min") != nullptr || n.find_attribute("max") != nullptr) return std::nullopt;
  const bool low = n.input(1) != nullptr, high = n.input(2) != nullptr;
  for (size_t i = 1; i < n.inputs().size(); ++i)
    if (const Value* v = n.input(i); v != nullptr && shape_of(v) != Shape{} && shape_of(v) != Shape{1})
      return std::nullopt;
  if (rank_of(n.input(0)) == 0) return std::nullopt;
  if (low && high) return PointwiseForm{PointwiseOp::kClamp, 0, 0, n.inputs()};
  if (low) return PointwiseForm{PointwiseOp::kMax, 0, 0, {n.input(0), n.input(1)}};
  if (high) return PointwiseForm{PointwiseOp::kMin, 0, 0, {n.input(0), n.input(2)}};
  return PointwiseForm{PointwiseOp::kCopy, 0, 0, {n.input(0)}};
}

std::optional<PointwiseForm> bounded_form(const Node& n) {
  const auto form = dtype_of(n.output(0)) == DType::kFloat32 ? clip_form(n) : std::nullopt;
  return form ? form : clamp_form(n);
}

std::optional<PointwiseForm> region_form(const Node& n) {
  const auto op = find_region(n.op_type);
  if (!op || dtype_of(n.input(0)) != DType::kFloat32) return std::nullopt;
  return PointwiseForm{*op, 0, 0, {n.input(0)}};
}

/// Whether an integer divided by `v` is no error.
bool is_divisor(const Value* v) {
  const UnalignedTensor* t = data_of(v);
  if (t == nullptr || !register_of(t->dtype())) return false;
  const Tensor wide = convert(t->aligned(), DType::kInt64);
  const auto elements = wide.span<int64_t>();
  return std::find(elements.begin(), elements.end(), 0) == elements.end();
}

/// Whether the instruction may be given these integers: a division by 0 is an error, not a number.
bool may_divide(const Node& n, PointwiseOp op, DType dtype) {
  const bool divides =
      op == PointwiseOp::kDiv || op == PointwiseOp::kFloorMod || op == PointwiseOp::kTruncMod;
  return !divides || is_float(dtype) || is_divisor(n.input(1));
}

/// The operator's own instruction on all of its inputs, of types that both have.
std::optional<PointwiseForm> plain_form(const Node& n, const PointwiseCode& code) {
  const auto count = static_cast<size_t>(kernels::pointwise_arity(code.op));
  const bool chooses = code.op == PointwiseOp::kSelect;
  const DType in = n.inputs().size() == count ? dtype_of(n.input(count - 1)) : DType::kUndefined,
              out = dtype_of(n.output(0));
  const std::optional<DType> from = register_of(in), to = register_of(out);
  if (!from || !to || !are_of_type(n, chooses ? 1 : 0, in)) return std::nullopt;
  // Arithmetic of halves is rounded at each step, which an instruction does not do.
  if (is_half(in) && out != DType::kBool && !chooses) return std::nullopt;
  if (out != DType::kBool && out != in) return std::nullopt;
  std::array<DType, 3> registers = {*from, *from, *from};
  if (chooses) registers[0] = register_of(dtype_of(n.input(0))).value_or(*from);
  if (kernels::pointwise_result(code.op, registers) != to || !may_divide(n, code.op, in)) return std::nullopt;
  return PointwiseForm{code.op, code.a, code.b, n.inputs()};
}

/// Numbers among the operands that make it a shorter instruction.
std::optional<PointwiseForm> form_with_number(const Node& n, PointwiseOp op) {
  if (n.inputs().size() != 2) return std::nullopt;
  if (dtype_of(n.output(0)) != DType::kFloat32)
    return op == PointwiseOp::kPow && is_scalar_beside(n.input(1), 2, n.input(0))
               ? std::optional(PointwiseForm{PointwiseOp::kSquare, 0, 0, {n.input(0)}})
               : std::nullopt;
  return are_of_type(n, 0, DType::kFloat32) ? with_number(n, op) : std::nullopt;
}

/// Whether the result is of the type in which it is computed, and which the operand has.
bool keeps_type(const Node& n) {
  const DType dtype = dtype_of(n.output(0));
  return dtype == dtype_of(n.input(0)) && register_of(dtype) && !is_half(dtype);
}

/// By an attribute, before opset 7: left to the plain evaluation.
bool broadcasts_along_axis(const Node& n) {
  return n.find_attribute("axis") != nullptr || n.find_attribute("broadcast") != nullptr;
}

}  // namespace

std::optional<DType> register_of(DType dtype, bool bytes_as_float) {
  const bool is_byte = dtype == DType::kInt8 || dtype == DType::kUInt8;
  if (is_half(dtype) || (is_byte && bytes_as_float)) return DType::kFloat32;
  const bool has_register =
      std::ranges::find(kernels::kRegisterTypes, dtype) != std::end(kernels::kRegisterTypes);
  return has_register ? std::optional(dtype) : std::nullopt;
}

std::optional<PointwiseForm> pointwise_form(const Node& n, const Model& model) {
  if (n.outputs().size() != 1 || n.output(0) == nullptr || n.inputs().empty() || n.input(0) == nullptr)
    return std::nullopt;
  if (is_region(n)) return region_form(n);
  if (is_op(n, "Cast")) return cast_form(n, dtype_of(n.output(0)));
  if (const auto q = read_quantization(n)) return quantized_form(n, *q);
  const std::optional<PointwiseCode> code = pointwise_code(n, model);
  if (!code || broadcasts_along_axis(n)) return std::nullopt;
  if (code->op == PointwiseOp::kClip) return keeps_type(n) ? bounded_form(n) : std::nullopt;
  if (keeps_type(n))
    if (auto form = form_with_number(n, code->op)) return form;
  return plain_form(n, *code);
}

}  // namespace assay
