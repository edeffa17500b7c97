#include "passes/pointwise_form.h"

#include <cmath>
#include <limits>

#include "passes/match.h"
#include "passes/quantization.h"
#include "passes/region.h"

namespace assay {
namespace {

using kernels::PointwiseOp;

struct Named {
  std::string_view name;
  PointwiseOp op;
};

/// Operators that map one to one, without parameters.
constexpr Named kUnary[] = {
    {"Abs", PointwiseOp::kAbs},
    {"Ceil", PointwiseOp::kCeil},
    {"Cos", PointwiseOp::kCos},
    {"Erf", PointwiseOp::kErf},
    {"Exp", PointwiseOp::kExp},
    {"Floor", PointwiseOp::kFloor},
    {"Log", PointwiseOp::kLog},
    {"Neg", PointwiseOp::kNeg},
    {"Reciprocal", PointwiseOp::kReciprocal},
    {"Relu", PointwiseOp::kRelu},
    {"Round", PointwiseOp::kRound},
    {"Sigmoid", PointwiseOp::kSigmoid},
    {"Sign", PointwiseOp::kSign},
    {"Sin", PointwiseOp::kSin},
    {"Softplus", PointwiseOp::kSoftplus},
    {"Sqrt", PointwiseOp::kSqrt},
    {"Softsign", PointwiseOp::kSoftsign},
    {"Tanh", PointwiseOp::kTanh},
    {"HardSwish", PointwiseOp::kHardSwish},
    {"Mish", PointwiseOp::kMish},
};
constexpr Named kBinary[] = {
    {"Add", PointwiseOp::kAdd}, {"Sub", PointwiseOp::kSub}, {"Mul", PointwiseOp::kMul},
    {"Div", PointwiseOp::kDiv}, {"Pow", PointwiseOp::kPow}, {"PRelu", PointwiseOp::kPRelu},
};
/// Operands float32, result bool.
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
  if (is_op(n, "Swish") && float_attribute(n, "alpha", 1) == 1) return form(PointwiseOp::kSilu);
  if (is_op(n, "Clip")) {
    constexpr float kMax = std::numeric_limits<float>::max();
    const std::optional<float> low = bound(n, "min", 1, -kMax), high = bound(n, "max", 2, kMax);
    // Bounds the wrong way round are left to the plain evaluation.
    if (low && high && *low <= *high) return form(PointwiseOp::kClip, *low, *high);
  }
  return std::nullopt;
}

std::optional<PointwiseForm> cast_form(const Node& n, DType to) {
  const DType from = dtype_of(n.input(0));
  if (to == DType::kFloat32 && (from == DType::kBool || from == DType::kInt32 || from == DType::kInt64))
    return PointwiseForm{PointwiseOp::kCopy, 0, 0, {n.input(0)}};
  if (to == DType::kBool && (from == DType::kFloat32 || from == DType::kInt32 || from == DType::kInt64))
    return PointwiseForm{PointwiseOp::kCopy, 0, 0, {n.input(0)}};
  const auto is_half = [](DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; };
  if (to == DType::kFloat32 && is_half(from)) return PointwiseForm{PointwiseOp::kCopy, 0, 0, {n.input(0)}};
  if (is_half(to) && (from == DType::kFloat32 || is_half(from)))
    return PointwiseForm{to == DType::kFloat16 ? PointwiseOp::kRoundToFloat16 : PointwiseOp::kRoundToBfloat16,
                         0,
                         0,
                         {n.input(0)}};
  return std::nullopt;
}

std::optional<PointwiseForm> quantized_form(const Node& n, const Quantization& q) {
  const PointwiseOp op = is_op(n, "DequantizeLinear") ? PointwiseOp::kDequantize
                         : q.dtype == DType::kUInt8   ? PointwiseOp::kQuantizeUint8
                                                      : PointwiseOp::kQuantizeInt8;
  return PointwiseForm{op, q.scale, static_cast<float>(q.zero_point), {n.input(0)}};
}

std::optional<PointwiseForm> bool_form(const Node& n) {
  if (n.inputs().size() == 2 && all_of_type(n, DType::kFloat32))
    if (const auto op = find(kComparisons, n.op_type)) return PointwiseForm{*op, 0, 0, n.inputs()};
  if (n.inputs().size() == 2 && all_of_type(n, DType::kBool))
    if (const auto op = find(kLogic, n.op_type)) return PointwiseForm{*op, 0, 0, n.inputs()};
  if (is_op(n, "Not") && all_of_type(n, DType::kBool))
    return PointwiseForm{PointwiseOp::kNot, 0, 0, n.inputs()};
  return std::nullopt;
}

/// Max, Min and Sum of two; the pass split_variadic cuts longer ones.
std::optional<PointwiseOp> variadic(const Node& n) {
  if (n.inputs().size() != 2) return std::nullopt;
  if (is_op(n, "Max")) return PointwiseOp::kMax;
  if (is_op(n, "Min")) return PointwiseOp::kMin;
  return is_op(n, "Sum") ? std::optional(PointwiseOp::kAdd) : std::nullopt;
}

}  // namespace

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
  if (is_op(n, "Where") && n.inputs().size() == 3 && out == DType::kFloat32 &&
      dtype_of(n.input(0)) == DType::kBool)
    return PointwiseForm{PointwiseOp::kSelect, 0, 0, n.inputs()};
  if (out == DType::kBool) return bool_form(n);
  if (out != DType::kFloat32 || dtype_of(n.input(0)) != DType::kFloat32) return std::nullopt;
  if (auto form = with_parameters(n)) return form;
  if (n.inputs().size() == 1)
    if (const auto op = find(kUnary, n.op_type)) return PointwiseForm{*op, 0, 0, n.inputs()};
  if (n.inputs().size() != 2 || !all_of_type(n, DType::kFloat32)) return std::nullopt;
  // Broadcasting by an axis attribute, before opset 7, is left to the plain evaluation.
  if (n.find_attribute("axis") != nullptr || n.find_attribute("broadcast") != nullptr) return std::nullopt;
  const auto op = variadic(n) ? variadic(n) : find(kBinary, n.op_type);
  if (!op) return std::nullopt;
  if (auto form = with_number(n, *op)) return form;
  return PointwiseForm{*op, 0, 0, n.inputs()};
}

}  // namespace assay
