// Activation functions on vectors that pointwise programs and recurrent layers have in common.
#if defined(ASSAY_KERNELS_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_ACTIVATIONS_INL_H_
#undef ASSAY_KERNELS_ACTIVATIONS_INL_H_
#else
#define ASSAY_KERNELS_ACTIVATIONS_INL_H_
#endif

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE VF softplus(VF x) {
  // max(x, 0) + log(1 + e^-|x|), with log1p by the quotient that cancels the rounding of 1 + e.
  const VF one = constant(1.0f);
  const VF e = exp_of_negative_magnitude(x);
  const VF u = hn::Add(one, e);
  const VF exact = hn::Sub(u, one);
  const VF quotient = hn::Div(hn::Mul(log(u), e), exact);
  const VF log1p = hn::IfThenElse(hn::Eq(exact, hn::Zero(F())), e, quotient);
  return hn::Add(max_nan(x, hn::Zero(F())), log1p);
}

/// e^x - 1 = 2 tanh(x/2) / (1 - tanh(x/2)), which does not cancel near 0; for x < 0.
HWY_INLINE VF expm1_below_zero(VF x) {
  const VF t = tanh(hn::Mul(x, constant(0.5f)));
  return hn::Div(hn::Add(t, t), hn::Sub(constant(1.0f), t));
}

HWY_INLINE VF elu(VF x, float a) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(F())), hn::Mul(constant(a), expm1_below_zero(x)), x);
}

HWY_INLINE VF clip(VF x, float low, float high) {
  const VF l = constant(low), h = constant(high);
  const VF raised = hn::IfThenElse(hn::Lt(x, l), l, x);
  return hn::IfThenElse(hn::Gt(raised, h), h, raised);
}

HWY_INLINE VF unit_ramp(VF x, float a, float b) {
  return clip(hn::MulAdd(x, constant(a), constant(b)), 0.0f, 1.0f);
}

template <typename V>
HWY_INLINE V gelu(const V& x) {
  const V half = mul(x, constant(0.5f));
  return mul_add(half, erf(mul(x, constant(0.70710678f))), half);
}

template <typename V>
HWY_INLINE V gelu_tanh(const V& x) {
  const V half = mul(x, constant(0.5f));
  const V cubic = mul_add(mul(constant(0.044715f), mul(x, x)), x, x);
  return mul_add(half, tanh(mul(constant(0.79788456f), cubic)), half);
}

template <typename V>
HWY_INLINE V silu(const V& x) {
  return mul(x, sigmoid(x));
}
HWY_INLINE VF hard_swish(VF x) { return hn::Mul(x, unit_ramp(x, 1.0f / 6.0f, 0.5f)); }
HWY_INLINE VF relu(VF x) { return hn::IfThenElse(hn::Lt(x, hn::Zero(F())), hn::Zero(F()), x); }
HWY_INLINE VF leaky_relu(VF x, float a) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(F())), hn::Mul(x, constant(a)), x);
}
HWY_INLINE VF softsign(VF x) { return hn::Div(x, hn::Add(constant(1.0f), hn::Abs(x))); }
/// x, but 0 where it is at most a.
HWY_INLINE VF thresholded_relu(VF x, float a) {
  return hn::IfThenElseZero(hn::Not(hn::Le(x, constant(a))), x);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_KERNELS_ACTIVATIONS_INL_H_
