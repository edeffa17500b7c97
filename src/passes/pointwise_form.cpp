#include "passes/pointwise_form.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/match.h"
#include "analysis/quantization.h"
#include "passes/region.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using kernels::PointwiseOp;
using kernels::RegisterType;

struct Named {
  std::string_view name;
  PointwiseOp op;
};

/// Operators that map one to one, without parameters.
constexpr Named kUnary[] = {
    {"Abs", PointwiseOp::kAbs},           {"Acos", PointwiseOp::kAcos},
    {"Acosh", PointwiseOp::kAcosh},       {"Asin", PointwiseOp::kAsin},
    {"Asinh", PointwiseOp::kAsinh},       {"Atan", PointwiseOp::kAtan},
    {"Atanh", PointwiseOp::kAtanh},       {"Ceil", PointwiseOp::kCeil},
    {"Cos", PointwiseOp::kCos},           {"Cosh", PointwiseOp::kCosh},
    {"Erf", PointwiseOp::kErf},           {"Exp", PointwiseOp::kExp},
    {"Floor", PointwiseOp::kFloor},       {"Log", PointwiseOp::kLog},
    {"Neg", PointwiseOp::kNeg},           {"Reciprocal", PointwiseOp::kReciprocal},
    {"Relu", PointwiseOp::kRelu},         {"Round", PointwiseOp::kRound},
    {"Sigmoid", PointwiseOp::kSigmoid},   {"Sign", PointwiseOp::kSign},
    {"Sin", PointwiseOp::kSin},           {"Sinh", PointwiseOp::kSinh},
    {"Softplus", PointwiseOp::kSoftplus}, {"Sqrt", PointwiseOp::kSqrt},
    {"Softsign", PointwiseOp::kSoftsign}, {"Tan", PointwiseOp::kTan},
    {"Tanh", PointwiseOp::kTanh},         {"HardSwish", PointwiseOp::kHardSwish},
    {"Mish", PointwiseOp::kMish},
};
constexpr Named kBinary[] = {
    {"Add", PointwiseOp::kAdd}, {"Sub", PointwiseOp::kSub}, {"Mul", PointwiseOp::kMul},
    {"Div", PointwiseOp::kDiv}, {"Pow", PointwiseOp::kPow}, {"PRelu", PointwiseOp::kPRelu},
};
/// Of other numbers: what the kernel has for all of them, for float64, and for integers.
constexpr Named kNumberUnary[] = {{"Abs", PointwiseOp::kAbs},
                                  {"Neg", PointwiseOp::kNeg},
                                  {"Relu", PointwiseOp::kRelu},
                                  {"Sign", PointwiseOp::kSign}};
constexpr Named kDoubleUnary[] = {{"Ceil", PointwiseOp::kCeil},
                                  {"Floor", PointwiseOp::kFloor},
                                  {"Reciprocal", PointwiseOp::kReciprocal},
                                  {"Round", PointwiseOp::kRound},
                                  {"Sqrt", PointwiseOp::kSqrt}};
constexpr Named kNumberBinary[] = {
    {"Add", PointwiseOp::kAdd}, {"Mul", PointwiseOp::kMul}, {"Sub", PointwiseOp::kSub}};
constexpr Named kBitwise[] = {{"BitwiseAnd", PointwiseOp::kBitAnd},
                              {"BitwiseOr", PointwiseOp::kBitOr},
                              {"BitwiseXor", PointwiseOp::kBitXor}};
/// Operands of any one type, result bool.
constexpr Named kComparisons[] = {
    {"Equal", PointwiseOp::kEqual},
    {"Greater", PointwiseOp::kGreater},
    {"GreaterOrEqual", PointwiseOp::kGreaterOrEqual},
    {"Less", PointwiseOp::kLess},
    {"LessOrEqual", PointwiseOp::kLessOrEqual},
};
/// Operands and result bool.
constexpr Named kLogic[] = {{"And", PointwiseOp::kAnd}, {"Or", PointwiseOp::kOr}, {"Xor", PointwiseOp::kXor}};
constexpr Named kRegions[] = {
    {kSilu, PointwiseOp::kSilu}, {kHardSwish, PointwiseOp::kHardSwish}, {kMish, PointwiseOp::kMish},
    {kGelu, PointwiseOp::kGelu}, {kGeluTanh, PointwiseOp::kGeluTanh},
};

template <size_t N>
std::optional<PointwiseOp> find(const Named (&table)[N], std::string_view name) {
  for (const Named& entry : table)
    if (entry.name == name) return entry.op;
  return std::nullopt;
}

bool all_of_type(const Node& n, DType dtype) {
  for (const Value* v : n.inputs())
    if (v == nullptr || dtype_of(v) != dtype) return false;
  return true;
}

/// Add, Sub and Mul by a number become one multiply-add; powers of whole and half exponents become what they
/// are.
std::optional<PointwiseForm> with_number(const Node& n, PointwiseOp op) {
  const std::optional<double> left = scalar_of(n.input(0)), right = scalar_of(n.input(1));
  if (left.has_value() == right.has_value()) return std::nullopt;
  Value* x = right ? n.input(0) : n.input(1);
  const auto c = static_cast<float>(right ? *right : *left);
  // The number must not enlarge the result.
  if (rank_of(right ? n.input(1) : n.input(0)) > rank_of(x)) return std::nullopt;
  const auto affine = [&](float a, float b) { return PointwiseForm{PointwiseOp::kAffine, a, b, {x}}; };
  switch (op) {
    case PointwiseOp::kAdd:
      return affine(1, c);
    case PointwiseOp::kMul:
      return affine(c, 0);
    case PointwiseOp::kSub:
      return right ? affine(1, -c) : affine(-1, c);
    case PointwiseOp::kDiv: {
      int exponent;
      // Multiplying by the reciprocal is exact only for powers of two.
      if (right && std::abs(std::frexp(c, &exponent)) == 0.5F && exponent > -100 && exponent < 100)
        return affine(1 / c, 0);
      return std::nullopt;
    }
    case PointwiseOp::kPow:
      if (!right) return std::nullopt;
      if (c == 2) return PointwiseForm{PointwiseOp::kSquare, 0, 0, {x}};
      if (c == 0.5F) return PointwiseForm{PointwiseOp::kSqrt, 0, 0, {x}};
      if (c == -1) return PointwiseForm{PointwiseOp::kReciprocal, 0, 0, {x}};
      if (c == 1) return affine(1, 0);
      return std::nullopt;
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

std::optional<PointwiseForm> with_parameters(const Node& n) {
  Value* x = n.input(0);
  const auto form = [&](PointwiseOp op, double a = 0, double b = 0) {
    return PointwiseForm{op, static_cast<float>(a), static_cast<float>(b), {x}};
  };
  if (is_op(n, "LeakyRelu")) return form(PointwiseOp::kLeakyRelu, float_attribute(n, "alpha", 0.01F));
  if (is_op(n, "Elu")) return form(PointwiseOp::kElu, float_attribute(n, "alpha", 1));
  if (is_op(n, "HardSigmoid"))
    return form(PointwiseOp::kHardSigmoid, float_attribute(n, "alpha", 0.2F),
                float_attribute(n, "beta", 0.5F));
  if (is_op(n, "Gelu"))
    return form(string_attribute(n, "approximate", "none") == "tanh" ? PointwiseOp::kGeluTanh
                                                                     : PointwiseOp::kGelu);
  if (is_op(n, "Celu")) return form(PointwiseOp::kCelu, float_attribute(n, "alpha", 1));
  if (is_op(n, "Selu"))
    return form(PointwiseOp::kSelu, float_attribute(n, "alpha", 1.67326319F),
                float_attribute(n, "gamma", 1.05070102F));
  if (is_op(n, "Shrink"))
    return form(PointwiseOp::kShrink, float_attribute(n, "lambd", 0.5F), float_attribute(n, "bias", 0));
  if (is_op(n, "ThresholdedRelu")) return form(PointwiseOp::kThresholdedRelu, float_attribute(n, "alpha", 1));
  if (is_op(n, "Swish") && float_attribute(n, "alpha", 1) == 1) return form(PointwiseOp::kSilu);
  if (is_op(n, "Clip")) {
    constexpr float kUnbounded = std::numeric_limits<float>::infinity();
    const std::optional<float> low = bound(n, "min", 1, -kUnbounded), high = bound(n, "max", 2, kUnbounded);
    // Bounds the wrong way round, and NaN, are clamp_form()'s.
    if (low && high && *low <= *high) return form(PointwiseOp::kClip, *low, *high);
  }
  return std::nullopt;
}

bool is_half(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

std::optional<PointwiseForm> cast_form(const Node& n, DType to) {
  const DType from = dtype_of(n.input(0));
  const auto form = [&](PointwiseOp op) { return PointwiseForm{op, 0, 0, {n.input(0)}}; };
  const std::optional<RegisterType> loaded = register_of(from);
  if (!loaded) return std::nullopt;
  switch (to) {
    case DType::kFloat32:
      return form(*loaded == RegisterType::kFloat32 ? PointwiseOp::kCopy : PointwiseOp::kToFloat32);
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
      if (*loaded != RegisterType::kFloat32) return std::nullopt;
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

std::optional<PointwiseForm> bool_form(const Node& n) {
  const DType in = dtype_of(n.input(0));
  if (!register_of(in) || !all_of_type(n, in)) return std::nullopt;
  if (n.inputs().size() == 2) {
    const auto op = in == DType::kBool ? find(kLogic, n.op_type) : std::nullopt;
    if (op) return PointwiseForm{*op, 0, 0, n.inputs()};
    if (in == DType::kBool && !is_op(n, "Equal")) return std::nullopt;
    if (const auto compares = find(kComparisons, n.op_type))
      return PointwiseForm{*compares, 0, 0, n.inputs()};
  }
  if (n.inputs().size() != 1) return std::nullopt;
  if (is_op(n, "Not")) return PointwiseForm{PointwiseOp::kNot, 0, 0, n.inputs()};
  if (in != DType::kFloat32 && in != DType::kFloat64 && !is_half(in)) return std::nullopt;
  if (is_op(n, "IsNaN")) return PointwiseForm{PointwiseOp::kIsNaN, 0, 0, n.inputs()};
  if (is_op(n, "IsInf"))
    return PointwiseForm{PointwiseOp::kIsInf, static_cast<float>(int_attribute(n, "detect_positive", 1)),
                         static_cast<float>(int_attribute(n, "detect_negative", 1)), n.inputs()};
  return std::nullopt;
}

/// Max, Min and Sum of two; the pass split_variadic cuts longer ones.
std::optional<PointwiseOp> variadic(const Node& n) {
  if (n.inputs().size() != 2) return std::nullopt;
  if (is_op(n, "Max")) return PointwiseOp::kMax;
  if (is_op(n, "Min")) return PointwiseOp::kMin;
  return is_op(n, "Sum") ? std::optional(PointwiseOp::kAdd) : std::nullopt;
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

/// Whether an integer divided by `v` is no error.
bool is_divisor(const Value* v) {
  const UnalignedTensor* t = data_of(v);
  if (t == nullptr || !register_of(t->dtype())) return false;
  const Tensor wide = convert(t->aligned(), DType::kInt64);
  const auto elements = wide.span<int64_t>();
  return std::find(elements.begin(), elements.end(), 0) == elements.end();
}

/// Arithmetic of float64 and integers.
std::optional<PointwiseForm> number_form(const Node& n, DType dtype) {
  const bool is_double = dtype == DType::kFloat64;
  const auto form = [&](PointwiseOp op) { return PointwiseForm{op, 0, 0, n.inputs()}; };
  if (is_op(n, "Clip")) return clamp_form(n);
  if (is_op(n, "Pow") && is_scalar_beside(n.input(1), 2, n.input(0)))
    return PointwiseForm{PointwiseOp::kSquare, 0, 0, {n.input(0)}};
  if (n.inputs().size() == 1) {
    if (is_op(n, "BitwiseNot") && !is_double) return form(PointwiseOp::kBitNot);
    if (const auto op = find(kNumberUnary, n.op_type)) return form(*op);
    const auto op = is_double ? find(kDoubleUnary, n.op_type) : std::nullopt;
    return op ? std::optional(form(*op)) : std::nullopt;
  }
  if (n.inputs().size() != 2 || !all_of_type(n, dtype)) return std::nullopt;
  if (const auto op = variadic(n)) return form(*op);
  if (const auto op = find(kNumberBinary, n.op_type)) return form(*op);
  if (is_op(n, "Div") && (is_double || is_divisor(n.input(1)))) return form(PointwiseOp::kDiv);
  if (is_double) return std::nullopt;
  if (is_op(n, "Mod") && is_divisor(n.input(1)))
    return form(int_attribute(n, "fmod", 0) != 0 ? PointwiseOp::kTruncMod : PointwiseOp::kFloorMod);
  if (is_op(n, "BitShift"))
    return form(string_attribute(n, "direction", "") == "LEFT" ? PointwiseOp::kShiftLeft
                                                               : PointwiseOp::kShiftRight);
  const auto op = find(kBitwise, n.op_type);
  return op ? std::optional(form(*op)) : std::nullopt;
}

}  // namespace

std::optional<RegisterType> register_of(DType dtype, bool bytes_as_float) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      return RegisterType::kFloat32;
    case DType::kFloat64:
      return RegisterType::kFloat64;
    case DType::kInt32:
      return RegisterType::kInt32;
    case DType::kInt64:
      return RegisterType::kInt64;
    case DType::kBool:
      return RegisterType::kBool;
    case DType::kInt8:
      return bytes_as_float ? RegisterType::kFloat32 : RegisterType::kInt8;
    case DType::kUInt8:
      return bytes_as_float ? RegisterType::kFloat32 : RegisterType::kUint8;
    case DType::kInt16:
      return RegisterType::kInt16;
    case DType::kUInt16:
      return RegisterType::kUint16;
    case DType::kUInt32:
      return RegisterType::kUint32;
    case DType::kUInt64:
      return RegisterType::kUint64;
    default:
      return std::nullopt;
  }
}

std::optional<PointwiseForm> pointwise_form(const Node& n) {
  if (n.outputs().size() != 1 || n.output(0) == nullptr || n.inputs().empty() || n.input(0) == nullptr)
    return std::nullopt;
  if (is_region(n)) {
    const auto op = find(kRegions, n.op_type);
    if (!op || dtype_of(n.input(0)) != DType::kFloat32) return std::nullopt;
    return PointwiseForm{*op, 0, 0, {n.input(0)}};
  }
  if (!n.domain.empty()) return std::nullopt;
  const DType out = dtype_of(n.output(0));
  if (is_op(n, "Cast")) return cast_form(n, out);
  if (const auto q = read_quantization(n)) return quantized_form(n, *q);
  if (is_op(n, "Where") && n.inputs().size() == 3 && register_of(out) && dtype_of(n.input(0)) == DType::kBool)
    return PointwiseForm{PointwiseOp::kSelect, 0, 0, n.inputs()};
  // Broadcasting by an axis attribute, before opset 7, is left to the plain evaluation.
  if (n.find_attribute("axis") != nullptr || n.find_attribute("broadcast") != nullptr) return std::nullopt;
  if (out == DType::kBool) return bool_form(n);
  const DType in = dtype_of(n.input(0));
  if (out != in || !register_of(out)) return std::nullopt;
  if (out != DType::kFloat32) return is_half(out) ? std::nullopt : number_form(n, out);
  if (auto form = with_parameters(n)) return form;
  if (is_op(n, "Clip")) return clamp_form(n);
  if (n.inputs().size() == 1)
    if (const auto op = find(kUnary, n.op_type)) return PointwiseForm{*op, 0, 0, n.inputs()};
  if (n.inputs().size() != 2 || !all_of_type(n, DType::kFloat32)) return std::nullopt;
  if (is_op(n, "Mod") && int_attribute(n, "fmod", 0) != 0)
    return PointwiseForm{PointwiseOp::kTruncMod, 0, 0, n.inputs()};
  const auto op = variadic(n) ? variadic(n) : find(kBinary, n.op_type);
  if (!op) return std::nullopt;
  if (auto form = with_number(n, *op)) return form;
  return PointwiseForm{*op, 0, 0, n.inputs()};
}

}  // namespace assay
