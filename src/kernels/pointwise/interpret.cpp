#include "kernels/pointwise/interpret.h"

#include <algorithm>
#include <cmath>

#include "kernels/convert/convert.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/interpret.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

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
HWY_INLINE hn::Mask<F> is_true(VF x) { return hn::Ne(x, hn::Zero(F())); }

HWY_INLINE VF softplus(VF x) {
  // max(x, 0) + log(1 + e^-|x|), with log1p by the quotient that cancels the rounding of 1 + e.
  const VF one = constant(1.0f);
  const VF e = exp(hn::Neg(hn::Abs(x)));
  const VF u = hn::Add(one, e);
  const VF exact = hn::Sub(u, one);
  const VF quotient = hn::Div(hn::Mul(log(u), e), exact);
  const VF log1p = hn::IfThenElse(hn::Eq(exact, hn::Zero(F())), e, quotient);
  return hn::Add(max_nan(x, hn::Zero(F())), log1p);
}

HWY_INLINE VF gelu(VF x) {
  const VF half = hn::Mul(x, constant(0.5f));
  return hn::MulAdd(half, erf(hn::Mul(x, constant(0.70710678f))), half);
}

HWY_INLINE VF gelu_tanh(VF x) {
  const VF half = hn::Mul(x, constant(0.5f));
  const VF cubic = hn::MulAdd(hn::Mul(constant(0.044715f), hn::Mul(x, x)), x, x);
  return hn::MulAdd(half, tanh(hn::Mul(constant(0.79788456f), cubic)), half);
}

HWY_INLINE VF elu(VF x, float a) {
  const VF z = hn::Mul(x, constant(0.5f));
  // e^x - 1 = 2 tanh(x/2) / (1 - tanh(x/2)), which does not cancel near 0.
  const VF t = tanh(z);
  const VF grown = hn::Div(hn::Add(t, t), hn::Sub(constant(1.0f), t));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(F())), hn::Mul(constant(a), grown), x);
}

HWY_INLINE VF clip(VF x, float low, float high) {
  const VF l = constant(low), h = constant(high);
  const VF raised = hn::IfThenElse(hn::Lt(x, l), l, x);
  return hn::IfThenElse(hn::Gt(raised, h), h, raised);
}

HWY_INLINE VF unit_ramp(VF x, float a, float b) {
  return clip(hn::MulAdd(x, constant(a), constant(b)), 0.0f, 1.0f);
}

HWY_INLINE VF quantize(VF x, float scale, float zero_point, float low, float high) {
  const VF steps = hn::Add(hn::Round(hn::Div(x, constant(scale))), constant(zero_point));
  return hn::Min(hn::Max(steps, constant(low)), constant(high));
}

void round_to(NarrowType type, const float* x, float* out, size_t count) {
  constexpr size_t kPiece = 256;
  uint16_t narrow[kPiece];
  for (size_t i = 0; i < count; i += kPiece) {
    const size_t n = std::min(kPiece, count - i);
    narrow_row(type, x + i, narrow, n);
    widen_row(type, narrow, out + i, n);
  }
}

HWY_INLINE VF sign(VF x) {
  const VF zero = hn::Zero(F());
  const VF s = hn::Sub(truth(hn::Gt(x, zero)), truth(hn::Lt(x, zero)));
  return hn::IfThenElse(hn::IsNaN(x), x, s);
}

#define ASSAY_UNARY(name, expression) \
  case PointwiseOp::k##name:          \
    return map1(x, out, count, [=](VF v) HWY_ATTR { return expression; })
#define ASSAY_BINARY(name, expression) \
  case PointwiseOp::k##name:           \
    return map2(x, y, out, count, [=](VF v, VF w) HWY_ATTR { return expression; })

/// Unary instructions; false when the instruction is none.
void unary(const PointwiseInstruction& in, const float* x, float* out, size_t count) {
  const float a = in.a, b = in.b;
  switch (in.op) {
    ASSAY_UNARY(Abs, hn::Abs(v));
    ASSAY_UNARY(Affine, hn::MulAdd(v, constant(a), constant(b)));
    ASSAY_UNARY(Ceil, hn::Ceil(v));
    ASSAY_UNARY(Clip, clip(v, a, b));
    ASSAY_UNARY(Copy, v);
    ASSAY_UNARY(Dequantize, hn::Mul(hn::Sub(v, constant(b)), constant(a)));
    ASSAY_UNARY(Elu, elu(v, a));
    ASSAY_UNARY(Erf, erf(v));
    ASSAY_UNARY(Exp, exp(v));
    ASSAY_UNARY(Floor, hn::Floor(v));
    ASSAY_UNARY(Gelu, gelu(v));
    ASSAY_UNARY(GeluTanh, gelu_tanh(v));
    ASSAY_UNARY(HardSigmoid, unit_ramp(v, a, b));
    ASSAY_UNARY(HardSwish, hn::Mul(v, unit_ramp(v, 1.0f / 6.0f, 0.5f)));
    ASSAY_UNARY(LeakyRelu, hn::IfThenElse(hn::Lt(v, hn::Zero(F())), hn::Mul(v, constant(a)), v));
    ASSAY_UNARY(Log, log(v));
    ASSAY_UNARY(Mish, hn::Mul(v, tanh(softplus(v))));
    ASSAY_UNARY(Neg, hn::Neg(v));
    ASSAY_UNARY(Not, truth(hn::Eq(v, hn::Zero(F()))));
    ASSAY_UNARY(QuantizeInt8, quantize(v, a, b, -128, 127));
    ASSAY_UNARY(QuantizeUint8, quantize(v, a, b, 0, 255));
    ASSAY_UNARY(Reciprocal, hn::Div(constant(1.0f), v));
    ASSAY_UNARY(Relu, hn::IfThenElse(hn::Lt(v, hn::Zero(F())), hn::Zero(F()), v));
    ASSAY_UNARY(Round, hn::Round(v));
    ASSAY_UNARY(Sigmoid, sigmoid(v));
    ASSAY_UNARY(Sign, sign(v));
    ASSAY_UNARY(Silu, hn::Mul(v, sigmoid(v)));
    ASSAY_UNARY(Softplus, softplus(v));
    ASSAY_UNARY(Softsign, hn::Div(v, hn::Add(constant(1.0f), hn::Abs(v))));
    ASSAY_UNARY(Sqrt, hn::Sqrt(v));
    ASSAY_UNARY(Square, hn::Mul(v, v));
    ASSAY_UNARY(Tanh, tanh(v));
    case PointwiseOp::kRoundToBfloat16:
      return round_to(NarrowType::kBfloat16, x, out, count);
    case PointwiseOp::kRoundToFloat16:
      return round_to(NarrowType::kFloat16, x, out, count);
    case PointwiseOp::kCos:
      return map_scalar1(x, out, count, [](float v) { return std::cos(v); });
    case PointwiseOp::kSin:
      return map_scalar1(x, out, count, [](float v) { return std::sin(v); });
    default:
      HWY_ASSERT(false);
  }
}

void binary(PointwiseOp op, const float* x, const float* y, float* out, size_t count) {
  switch (op) {
    ASSAY_BINARY(Add, hn::Add(v, w));
    ASSAY_BINARY(And, truth(hn::And(is_true(v), is_true(w))));
    ASSAY_BINARY(Div, hn::Div(v, w));
    ASSAY_BINARY(Equal, truth(hn::Eq(v, w)));
    ASSAY_BINARY(Greater, truth(hn::Gt(v, w)));
    ASSAY_BINARY(GreaterOrEqual, truth(hn::Ge(v, w)));
    ASSAY_BINARY(Less, truth(hn::Lt(v, w)));
    ASSAY_BINARY(LessOrEqual, truth(hn::Le(v, w)));
    ASSAY_BINARY(Max, max_nan(v, w));
    ASSAY_BINARY(Min, min_nan(v, w));
    ASSAY_BINARY(Mul, hn::Mul(v, w));
    ASSAY_BINARY(Or, truth(hn::Or(is_true(v), is_true(w))));
    ASSAY_BINARY(PRelu, hn::IfThenElse(hn::Lt(v, hn::Zero(F())), hn::Mul(v, w), v));
    ASSAY_BINARY(Sub, hn::Sub(v, w));
    ASSAY_BINARY(Xor, truth(hn::Xor(is_true(v), is_true(w))));
    case PointwiseOp::kPow:
      for (size_t i = 0; i < count; ++i) out[i] = std::pow(x[i], y[i]);
      return;
    default:
      HWY_ASSERT(false);
  }
}

#undef ASSAY_UNARY
#undef ASSAY_BINARY

void select(const float* x, const float* y, const float* z, float* out, size_t count) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::IfThenElse(is_true(hn::LoadU(f, x + i)), hn::LoadU(f, y + i), hn::LoadU(f, z + i)), f,
               out + i);
  for (; i < count; ++i) out[i] = x[i] != 0 ? y[i] : z[i];
}

void interpret(std::span<const PointwiseInstruction> code, float* const* registers, size_t count) {
  for (const PointwiseInstruction& in : code) {
    const float* x = registers[in.args[0]];
    float* out = registers[in.result];
    if (in.args[1] < 0)
      unary(in, x, out, count);
    else if (in.args[2] < 0)
      binary(in.op, x, registers[in.args[1]], out, count);
    else
      select(x, registers[in.args[1]], registers[in.args[2]], out, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(interpret);

void interpret_tile(std::span<const PointwiseInstruction> code, float* const* registers, size_t count) {
  HWY_DYNAMIC_DISPATCH(interpret)(code, registers, count);
}

}  // namespace assay::kernels
#endif
