#include "kernels/pointwise/interpret.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/convert/convert.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/interpret.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/activations-inl.h"
#include "kernels/int8/quotient-inl.h"
#include "kernels/pointwise/typed_loops-inl.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

template <typename Fn>
HWY_INLINE void map1(const float* x, float* out, size_t count, Fn fn) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(fn(hn::LoadU(f, x + i)), f, out + i);
  if (i < count) store_first(fn(load_first(x + i, count - i)), out + i, count - i);
}

/// The same for a function that takes several vectors at a time, too.
template <typename Fn>
HWY_INLINE void map_together(const float* x, float* out, size_t count, Fn fn) {
  const size_t step = kTogether * hn::Lanes(F());
  size_t i = 0;
  for (; i + step <= count; i += step) store_together(fn(load_together(x + i)), out + i);
  map1(x + i, out + i, count - i, fn);
}

template <typename Fn>
HWY_INLINE void map2(const float* x, const float* y, float* out, size_t count, Fn fn) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(fn(hn::LoadU(f, x + i), hn::LoadU(f, y + i)), f, out + i);
  if (i < count)
    store_first(fn(load_first(x + i, count - i), load_first(y + i, count - i)), out + i, count - i);
}

template <typename Fn>
HWY_INLINE void map_scalar1(const float* x, float* out, size_t count, Fn fn) {
  for (size_t i = 0; i < count; ++i) out[i] = fn(x[i]);
}

template <typename M>
HWY_INLINE VF truth(M mask) {
  return hn::IfThenElseZero(mask, constant(1.0f));
}

/// Vectors in which every |x| is at most `limit` by `fn`, others element by element by `exact`.
template <typename Fn>
HWY_INLINE void map_within(const float* x, float* out, size_t count, float limit, float (*exact)(float),
                           Fn fn) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  for (size_t i = 0; i < count; i += lanes) {
    const size_t n = std::min(lanes, count - i);
    const VF v = n == lanes ? hn::LoadU(f, x + i) : load_first(x + i, n);
    if (hn::AllTrue(f, hn::Le(hn::Abs(v), constant(limit))))
      n == lanes ? hn::StoreU(fn(v), f, out + i) : store_first(fn(v), out + i, n);
    else
      for (size_t k = i; k < i + n; ++k) out[k] = exact(x[k]);
  }
}

HWY_INLINE VF quantize(VF x, float scale, float zero_point, float low, float high) {
  const VF whole = rounded_quotient(F(), x, constant(scale), constant(inverse_of(scale)));
  const VF steps = hn::Add(whole, constant(zero_point));
  return hn::Min(hn::Max(steps, constant(low)), constant(high));
}

void round_to(DType type, const float* x, float* out, size_t count) {
  constexpr size_t kPiece = 256;
  uint16_t narrow[kPiece];
  for (size_t i = 0; i < count; i += kPiece) {
    const size_t n = std::min(kPiece, count - i);
    narrow_row(type, x + i, narrow, n);
    widen_row(type, narrow, out + i, n);
  }
}

HWY_INLINE VF shrink(VF x, float a, float b) {
  const VF low = hn::IfThenElse(hn::Lt(x, constant(-a)), hn::Add(x, constant(b)), hn::Zero(F()));
  const VF y = hn::IfThenElse(hn::Gt(x, constant(a)), hn::Sub(x, constant(b)), low);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// Highway's range of angles.
constexpr float kMaxRadians = 39000.0f;
float exact_Acos(float x) { return std::acos(x); }
float exact_Asin(float x) { return std::asin(x); }
float exact_Atan(float x) { return std::atan(x); }
float exact_Cos(float x) { return std::cos(x); }
float exact_Sin(float x) { return std::sin(x); }

HWY_INLINE VF sign(VF x) {
  const VF zero = hn::Zero(F());
  const VF s = hn::Sub(truth(hn::Gt(x, zero)), truth(hn::Lt(x, zero)));
  return hn::IfThenElse(hn::IsNaN(x), x, s);
}

#define ASSAY_UNARY(name, expression) \
  case PointwiseOp::k##name:          \
    return map1(x, out, count, [=](VF v) HWY_ATTR { return expression; })
#define ASSAY_FUNCTION(name, function) \
  case PointwiseOp::k##name:           \
    return map_together(x, out, count, [](const auto& v) HWY_ATTR ASSAY_INLINED { return function(v); })
#define ASSAY_WITHIN(name, limit, expression) \
  case PointwiseOp::k##name:                  \
    return map_within(x, out, count, limit, exact_##name, [](VF v) HWY_ATTR { return expression; })
#define ASSAY_SCALAR(name, function) \
  case PointwiseOp::k##name:         \
    return map_scalar1(x, out, count, [](float v) { return function(v); })
#define ASSAY_BINARY(name, expression) \
  case PointwiseOp::k##name:           \
    return map2(x, y, out, count, [=](VF v, VF w) HWY_ATTR { return expression; })

void unary(const PointwiseInstruction& in, const float* x, float* out, size_t count) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float a = in.a, b = in.b;
  switch (in.op) {
    ASSAY_UNARY(Abs, hn::Abs(v));
    ASSAY_UNARY(Affine, hn::MulAdd(v, constant(a), constant(b)));
    ASSAY_UNARY(Ceil, hn::Ceil(v));
    ASSAY_UNARY(Celu, hn::IfThenElse(hn::Lt(v, hn::Zero(F())),
                                     hn::Mul(constant(a), expm1_below_zero(hn::Div(v, constant(a)))), v));
    ASSAY_UNARY(Clip, clip(v, a, b));
    ASSAY_UNARY(Copy, v);
    ASSAY_UNARY(Dequantize, hn::Mul(hn::Sub(v, constant(b)), constant(a)));
    ASSAY_UNARY(Elu, elu(v, a));
    ASSAY_FUNCTION(Erf, erf);
    ASSAY_FUNCTION(Exp, exp);
    ASSAY_UNARY(Floor, hn::Floor(v));
    ASSAY_FUNCTION(Gelu, gelu);
    ASSAY_FUNCTION(GeluTanh, gelu_tanh);
    ASSAY_UNARY(HardSigmoid, unit_ramp(v, a, b));
    ASSAY_UNARY(HardSwish, hard_swish(v));
    ASSAY_UNARY(LeakyRelu, hn::IfThenElse(hn::Lt(v, hn::Zero(F())), hn::Mul(v, constant(a)), v));
    ASSAY_UNARY(Log, log(v));
    ASSAY_UNARY(Mish, hn::Mul(v, tanh(softplus(v))));
    ASSAY_UNARY(Neg, hn::Neg(v));
    ASSAY_UNARY(QuantizeInt8, quantize(v, a, b, -128, 127));
    ASSAY_UNARY(QuantizeUint8, quantize(v, a, b, 0, 255));
    ASSAY_UNARY(Reciprocal, hn::Div(constant(1.0f), v));
    ASSAY_UNARY(Relu, relu(v));
    ASSAY_UNARY(Round, hn::Round(v));
    ASSAY_UNARY(Selu, hn::Mul(constant(b), elu(v, a)));
    ASSAY_UNARY(Shrink, shrink(v, a, b));
    ASSAY_FUNCTION(Sigmoid, sigmoid);
    ASSAY_UNARY(Sign, sign(v));
    ASSAY_FUNCTION(Silu, silu);
    ASSAY_UNARY(Softplus, softplus(v));
    ASSAY_UNARY(Softsign, softsign(v));
    ASSAY_UNARY(Sqrt, hn::Sqrt(v));
    ASSAY_UNARY(Square, hn::Mul(v, v));
    ASSAY_FUNCTION(Tanh, tanh);
    ASSAY_UNARY(ThresholdedRelu, thresholded_relu(v, a));
    ASSAY_WITHIN(Acos, 1.0f, hn::Acos(F(), v));
    ASSAY_WITHIN(Asin, 1.0f, hn::Asin(F(), v));
    ASSAY_WITHIN(Atan, kLargest, hn::Atan(F(), v));
    ASSAY_WITHIN(Cos, kMaxRadians, hn::Cos(F(), v));
    ASSAY_WITHIN(Sin, kMaxRadians, hn::Sin(F(), v));
    ASSAY_SCALAR(Acosh, std::acosh);
    ASSAY_SCALAR(Asinh, std::asinh);
    ASSAY_SCALAR(Atanh, std::atanh);
    ASSAY_SCALAR(Cosh, std::cosh);
    ASSAY_SCALAR(Sinh, std::sinh);
    ASSAY_SCALAR(Tan, std::tan);
    case PointwiseOp::kRoundToBfloat16:
      return round_to(DType::kBFloat16, x, out, count);
    case PointwiseOp::kRoundToFloat16:
      return round_to(DType::kFloat16, x, out, count);
    case PointwiseOp::kIsInf:
    case PointwiseOp::kIsNaN:
    case PointwiseOp::kToBool:
    case PointwiseOp::kToFloat32:
    case PointwiseOp::kToFloat64:
    case PointwiseOp::kToInt32:
    case PointwiseOp::kToInt64:
    case PointwiseOp::kToInt8:
    case PointwiseOp::kToUint8:
    case PointwiseOp::kToInt16:
    case PointwiseOp::kToUint16:
    case PointwiseOp::kToUint32:
    case PointwiseOp::kToUint64:
      return numbers<float>(in, x, nullptr, out, count);
    default:
      HWY_ASSERT(false);
  }
}

void binary(const PointwiseInstruction& in, const float* x, const float* y, float* out, size_t count) {
  switch (in.op) {
    ASSAY_BINARY(Add, hn::Add(v, w));
    ASSAY_BINARY(Div, hn::Div(v, w));
    ASSAY_BINARY(Max, max_nan(v, w));
    ASSAY_BINARY(Min, min_nan(v, w));
    ASSAY_BINARY(Mul, hn::Mul(v, w));
    ASSAY_BINARY(PRelu, hn::IfThenElse(hn::Lt(v, hn::Zero(F())), hn::Mul(v, w), v));
    ASSAY_BINARY(Sub, hn::Sub(v, w));
    case PointwiseOp::kPow:
      for (size_t i = 0; i < count; ++i) out[i] = std::pow(x[i], y[i]);
      return;
    default:
      return numbers<float>(in, x, y, out, count);
  }
}

#undef ASSAY_FUNCTION
#undef ASSAY_UNARY
#undef ASSAY_WITHIN
#undef ASSAY_SCALAR
#undef ASSAY_BINARY

/// A choice moves elements: only their size matters.
void select_elements(DType type, const void* choices, const void* x, const void* y, void* out, size_t count) {
  switch (element_size(type)) {
    case 1:
      return select<uint8_t>(choices, x, y, out, count);
    case 2:
      return select<uint16_t>(choices, x, y, out, count);
    case 4:
      return select<uint32_t>(choices, x, y, out, count);
    default:
      return select<uint64_t>(choices, x, y, out, count);
  }
}

void clamp_elements(DType type, const void* x, const void* low, const void* high, void* out, size_t count) {
  switch (type) {
    case DType::kFloat32:
      return clamp<float>(x, low, high, out, count);
    case DType::kFloat64:
      return clamp<double>(x, low, high, out, count);
    case DType::kInt32:
      return clamp<int32_t>(x, low, high, out, count);
    case DType::kInt64:
      return clamp<int64_t>(x, low, high, out, count);
    case DType::kInt8:
      return clamp<int8_t>(x, low, high, out, count);
    case DType::kUInt8:
      return clamp<uint8_t>(x, low, high, out, count);
    case DType::kInt16:
      return clamp<int16_t>(x, low, high, out, count);
    case DType::kUInt16:
      return clamp<uint16_t>(x, low, high, out, count);
    case DType::kUInt32:
      return clamp<uint32_t>(x, low, high, out, count);
    case DType::kUInt64:
      return clamp<uint64_t>(x, low, high, out, count);
    default:
      HWY_ASSERT(false);
  }
}

void ternary(const PointwiseInstruction& in, const void* x, const void* y, const void* z, void* out,
             size_t count) {
  in.op == PointwiseOp::kSelect ? select_elements(in.type, x, y, z, out, count)
                                : clamp_elements(in.type, x, y, z, out, count);
}

void execute(const PointwiseInstruction& in, void* const* registers, size_t count) {
  const void* x = registers[in.args[0]];
  const void* y = in.args[1] < 0 ? nullptr : registers[in.args[1]];
  void* out = registers[in.result];
  if (in.args[2] >= 0) return ternary(in, x, y, registers[in.args[2]], out, count);
  switch (in.type) {
    case DType::kFloat32:
      return y == nullptr ? unary(in, static_cast<const float*>(x), static_cast<float*>(out), count)
                          : binary(in, static_cast<const float*>(x), static_cast<const float*>(y),
                                   static_cast<float*>(out), count);
    case DType::kFloat64:
      return numbers<double>(in, x, y, out, count);
    case DType::kInt32:
      return numbers<int32_t>(in, x, y, out, count);
    case DType::kInt64:
      return numbers<int64_t>(in, x, y, out, count);
    case DType::kBool:
      return logic(in.op, x, y, out, count);
    case DType::kInt8:
      return numbers<int8_t>(in, x, y, out, count);
    case DType::kUInt8:
      return numbers<uint8_t>(in, x, y, out, count);
    case DType::kInt16:
      return numbers<int16_t>(in, x, y, out, count);
    case DType::kUInt16:
      return numbers<uint16_t>(in, x, y, out, count);
    case DType::kUInt32:
      return numbers<uint32_t>(in, x, y, out, count);
    case DType::kUInt64:
      return numbers<uint64_t>(in, x, y, out, count);
    default:
      HWY_ASSERT(false);
  }
}

void interpret(std::span<const PointwiseInstruction> code, void* const* registers, size_t count) {
  for (const PointwiseInstruction& in : code) execute(in, registers, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(interpret);

void interpret_tile(std::span<const PointwiseInstruction> code, void* const* registers, size_t count) {
  HWY_DYNAMIC_DISPATCH(interpret)(code, registers, count);
}

}  // namespace assay::kernels
#endif
