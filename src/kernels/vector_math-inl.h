// float32 functions on vectors, a few units in the last place from the true value over the whole range,
// infinities and NaN included. Coefficients are minimax fits on the stated interval.
#if defined(ASSAY_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_VECTOR_MATH_INL_H_
#undef ASSAY_KERNELS_VECTOR_MATH_INL_H_
#else
#define ASSAY_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

HWY_INLINE VF constant(float x) { return hn::Set(F(), x); }

/// x * 2^n for n in [-252, 254], rounded once where the result is subnormal.
HWY_INLINE VF scale_by_power(VF x, VI n) {
  const I i;
  const VI half = hn::ShiftRight<1>(n);
  const VI rest = hn::Sub(n, half);
  const VI bias = hn::Set(i, 127);
  const VF a = hn::BitCast(F(), hn::ShiftLeft<23>(hn::Add(half, bias)));
  const VF b = hn::BitCast(F(), hn::ShiftLeft<23>(hn::Add(rest, bias)));
  return hn::Mul(hn::Mul(x, a), b);
}

/// x * 2^n for whole numbers n in [-252, 254], rounded once where the result is subnormal.
HWY_INLINE VF scale_by_power(VF x, VF n) {
#if HWY_TARGET == HWY_AVX3
  return VF{_mm512_scalef_ps(x.raw, n.raw)};
#else
  return scale_by_power(x, hn::ConvertTo(I(), n));
#endif
}

/// e^x for x in [-104, 89]. NaN stays NaN.
HWY_INLINE VF exp_within(VF clamped) {
#if HWY_TARGET == HWY_AVX3
  // 2^(n / 16) from a table leaves so little that three terms are enough. What is added rounds to sixteenths,
  // which are the last bits then.
  alignas(64) static constexpr float kPowers[16] = {
      1.0f,        1.04427378f, 1.09050773f, 1.13878863f, 1.18920712f, 1.24185781f, 1.29683955f, 1.35425555f,
      1.41421356f, 1.47682615f, 1.54221083f, 1.61049033f, 1.68179283f, 1.75625216f, 1.83400809f, 1.91520656f};
  const VF shift = constant(786432.0f);
  const VF t = hn::MulAdd(clamped, constant(1.44269504f), shift);
  const VF sixteenths = hn::Sub(t, shift);
  VF rest = hn::NegMulAdd(sixteenths, constant(0.693359375f), clamped);
  rest = hn::NegMulAdd(sixteenths, constant(-2.12194440e-4f), rest);
  const VF power{_mm512_permutexvar_ps(_mm512_castps_si512(t.raw), _mm512_load_ps(kPowers))};
  const VF q = hn::MulAdd(hn::MulAdd(rest, constant(0.166671666f), constant(0.5f)), rest, constant(1.0f));
  return VF{_mm512_scalef_ps(hn::MulAdd(hn::Mul(power, rest), q, power).raw, sixteenths.raw)};
#else
  const VF n = hn::Round(hn::Mul(clamped, constant(1.44269504f)));
  VF r = hn::NegMulAdd(n, constant(0.693359375f), clamped);
  r = hn::NegMulAdd(n, constant(-2.12194440e-4f), r);
  VF p = constant(0.00138145988f);
  p = hn::MulAdd(p, r, constant(0.00836871658f));
  p = hn::MulAdd(p, r, constant(0.041668389f));
  p = hn::MulAdd(p, r, constant(0.166665211f));
  p = hn::MulAdd(p, r, constant(0.49999994f));
  p = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), constant(1.0f));
  return scale_by_power(p, n);
#endif
}

/// e^x. 0 below -104, infinity above 88.73.
HWY_INLINE VF exp(VF x) {
  const auto is_zero = hn::Lt(x, constant(-104.0f));
  // What comes to nothing takes processors a hundred times as long to compute.
  const VF y = exp_within(hn::IfThenZeroElse(is_zero, hn::Min(x, constant(89.0f))));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenZeroElse(is_zero, y));
}

/// e^x for x <= 0 as part of a sum of at least 1: 0 where it would be subnormal, which takes as long. NaN
/// stays NaN.
HWY_INLINE VF exp_of_part(VF x) {
  const VF least = constant(-87.33654f);
  const VF y = hn::IfThenZeroElse(hn::Lt(x, least), exp_within(hn::Max(least, x)));
#if HWY_TARGET == HWY_AVX3
  return y;  // the maximum is the second number where one is NaN
#else
  return hn::IfThenElse(hn::IsNaN(x), x, y);
#endif
}

/// Natural logarithm; -infinity at 0, NaN below.
HWY_INLINE VF log(VF x) {
  const F f;
  const I i;
  const VF smallest = constant(1.17549435e-38f);
  const auto subnormal = hn::Lt(x, smallest);
  const VF scaled = hn::IfThenElse(subnormal, hn::Mul(x, constant(8388608.0f)), x);
  // Exponent such that the mantissa lies in [sqrt(1/2), sqrt(2)).
  const VI bits = hn::BitCast(i, scaled);
  const VI shifted = hn::Sub(bits, hn::Set(i, 0x3f3504f3));
  const VI exponent = hn::ShiftRight<23>(shifted);
  const VF m = hn::BitCast(f, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  VF e = hn::ConvertTo(f, exponent);
  e = hn::IfThenElse(subnormal, hn::Sub(e, constant(23.0f)), e);
  const VF r = hn::Sub(m, constant(1.0f));
  VF p = constant(0.0674663857f);
  p = hn::MulAdd(p, r, constant(-0.116756514f));
  p = hn::MulAdd(p, r, constant(0.118881628f));
  p = hn::MulAdd(p, r, constant(-0.124055892f));
  p = hn::MulAdd(p, r, constant(0.142195523f));
  p = hn::MulAdd(p, r, constant(-0.166679963f));
  p = hn::MulAdd(p, r, constant(0.200021192f));
  p = hn::MulAdd(p, r, constant(-0.250000089f));
  p = hn::MulAdd(p, r, constant(0.333333135f));
  const VF r2 = hn::Mul(r, r);
  VF y = hn::MulAdd(hn::Mul(r2, r), p, hn::Mul(e, constant(-2.12194440e-4f)));
  y = hn::NegMulAdd(r2, constant(0.5f), y);
  y = hn::MulAdd(e, constant(0.693359375f), hn::Add(y, r));
  const VF infinity = hn::Inf(f);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(f)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Or(hn::Lt(x, hn::Zero(f)), hn::IsNaN(x)), hn::NaN(f), y);
}

/// 1 / x for x in [1, 2^30].
HWY_INLINE VF reciprocal_above_one(VF x) {
  const VF one = constant(1.0f);
#if HWY_TARGET == HWY_AVX3
  // 14 bits, doubled: a division takes longer than all that surrounds it.
  const VF y = hn::ApproximateReciprocal(x);
  return hn::MulAdd(y, hn::NegMulAdd(x, y, one), y);
#else
  return hn::Div(one, x);
#endif
}

/// e^-|x|, 0 where it would be subnormal. NaN stays NaN.
HWY_INLINE VF exp_of_negative_magnitude(VF x) { return exp_of_part(hn::Neg(hn::Abs(x))); }

/// 1 / (1 + e^-x), from e^-|x|, which neither overflows nor loses bits on either side.
HWY_INLINE VF sigmoid(VF x) {
  const VF e = exp_of_negative_magnitude(x);
  const VF y = reciprocal_above_one(hn::Add(constant(1.0f), e));
#if HWY_TARGET == HWY_AVX3
  return VF{_mm512_mask_mul_ps(y.raw, _mm512_movepi32_mask(_mm512_castps_si512(x.raw)), y.raw, e.raw)};
#else
  const VF s = hn::IfThenElse(hn::Lt(x, hn::Zero(F())), hn::Mul(e, y), y);
  return hn::IfThenElse(hn::IsNaN(x), x, s);
#endif
}

HWY_INLINE VF tanh(VF x) {
  const VF a = hn::Abs(x);
  const VF z = hn::Mul(x, x);
  // tanh(x) = x + x * z * P(z) on |x| < 0.55.
  VF p = constant(0.00239899964f);
  p = hn::MulAdd(p, z, constant(-0.00841679424f));
  p = hn::MulAdd(p, z, constant(0.0217837673f));
  p = hn::MulAdd(p, z, constant(-0.0539597906f));
  p = hn::MulAdd(p, z, constant(0.133332953f));
  p = hn::MulAdd(p, z, constant(-0.333333313f));
  const VF near = hn::MulAdd(hn::Mul(x, z), p, x);
  // From 9.02 on 1 to float32's precision. A NaN is left to the polynomial.
  const VF b = hn::Min(a, constant(9.1f));
  const VF e = exp_within(hn::Add(b, b));
  const VF y = reciprocal_above_one(hn::Add(e, constant(1.0f)));
  const VF far = hn::NegMulAdd(constant(2.0f), y, constant(1.0f));
  return hn::IfThenElse(hn::Ge(a, constant(0.55f)), hn::CopySign(far, x), near);
}

#if HWY_TARGET == HWY_AVX3
/// erf(i / 4 + r) as a polynomial in r on [0, 1/4), lowest power first, for i < 16: minimax fits, of relative
/// error where i is 0.
alignas(64) inline constexpr float kErfPieces[6][16] = {
    {0.0f, 0.276326388f, 0.520499885f, 0.711155653f, 0.842700779f, 0.92290014f, 0.966105163f, 0.986671686f,
     0.995322287f, 0.998537302f, 0.999593019f, 0.999899387f, 0.999977887f, 0.999995708f, 0.999999285f, 1.0f},
    {1.12837911f, 1.06001246f, 0.87878114f, 0.642930686f, 0.415107995f, 0.236521885f, 0.118930794f,
     0.0527751446f, 0.0206669271f, 0.00714221271f, 0.00217820611f, 0.000586237176f, 0.000139236989f,
     2.91837787e-05f, 5.39799703e-06f, 0.0f},
    {7.00019382e-06f, -0.264924794f, -0.439323574f, -0.482178956f, -0.415130645f, -0.295686811f,
     -0.178419337f, -0.0923636109f, -0.0413314067f, -0.0160652548f, -0.00544201909f, -0.00161035277f,
     -0.000416989351f, -9.46115179e-05f, -1.8828785e-05f, 0.0f},
    {-0.376332283f, -0.310502708f, -0.147638604f, 0.0264294781f, 0.13874723f, 0.168140709f, 0.13916944f,
     0.0902910903f, 0.0481826589f, 0.0216398779f, 0.00828604959f, 0.00272692763f, 0.000775507418f,
     0.000191315456f, 4.10576067e-05f, 0.0f},
    {0.00202439027f, 0.137098432f, 0.192357183f, 0.153801858f, 0.0664746314f, -0.0108273197f, -0.0479268245f,
     -0.0492311753f, -0.0341759697f, -0.0184315704f, -0.0081163412f, -0.00298964255f, -0.000934038544f,
     -0.000249706558f, -5.7468762e-05f, 0.0f},
    {0.105946973f, 0.0453048907f, -0.0269813165f, -0.0666377842f, -0.0610238984f, -0.0306492336f,
     -0.00232718396f, 0.0113088805f, 0.0124369487f, 0.00836101267f, 0.00423905067f, 0.0017297694f,
     0.000585306669f, 0.000166982194f, 4.05842693e-05f, 0.0f},
};

/// Error function, by pieces whose coefficients are looked up: one polynomial instead of two and a power.
HWY_INLINE VF erf(VF x) {
  // Of two operands the minimum is the second where one is NaN.
  const VF a{_mm512_min_ps(constant(3.9f).raw, hn::Abs(x).raw)};
  const __m512i piece = _mm512_cvttps_epi32(hn::Mul(a, constant(4.0f)).raw);
  const VF r = hn::NegMulAdd(VF{_mm512_cvtepi32_ps(piece)}, constant(0.25f), a);
  const auto coefficient = [&](int power) HWY_ATTR {
    return VF{_mm512_permutexvar_ps(piece, _mm512_load_ps(kErfPieces[power]))};
  };
  VF y = coefficient(5);
  for (int power = 4; power >= 0; --power) y = hn::MulAdd(y, r, coefficient(power));
  return hn::CopySign(y, x);
}
#else
/// Error function.
HWY_INLINE VF erf(VF x) {
  const VF a = hn::Abs(x);
  const VF z = hn::Mul(x, x);
  // erf(x) = x * (2 / sqrt(pi) + z * P(z)) on |x| < 1.
  VF p = constant(7.93311629e-05f);
  p = hn::MulAdd(p, z, constant(-0.000803503382f));
  p = hn::MulAdd(p, z, constant(0.00519129215f));
  p = hn::MulAdd(p, z, constant(-0.0268554837f));
  p = hn::MulAdd(p, z, constant(0.112836301f));
  p = hn::MulAdd(p, z, constant(-0.376126319f));
  const VF near = hn::MulAdd(x, constant(1.12837917f), hn::Mul(x, hn::Mul(z, p)));
  // 1 - exp(-Q(|x|)) on [0.95, 4]; beyond, 1 to float32's precision.
  const VF t = hn::Min(a, constant(4.0f));
  VF q = constant(2.14960492e-05f);
  q = hn::MulAdd(q, t, constant(-0.000439105643f));
  q = hn::MulAdd(q, t, constant(0.00419360772f));
  q = hn::MulAdd(q, t, constant(-0.0251789596f));
  q = hn::MulAdd(q, t, constant(0.108372465f));
  q = hn::MulAdd(q, t, constant(0.633262634f));
  q = hn::MulAdd(q, t, constant(1.12955678f));
  q = hn::MulAdd(q, t, constant(-0.000183443088f));
  const VF far = hn::Sub(constant(1.0f), exp(hn::Neg(q)));
  const VF y = hn::IfThenElse(hn::Lt(a, constant(1.0f)), near, hn::CopySign(far, x));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}
#endif

/// Maximum and minimum that give NaN when either operand is NaN.
HWY_INLINE VF max_nan(VF a, VF b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Max(a, b)));
}
HWY_INLINE VF min_nan(VF a, VF b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Min(a, b)));
}

/// The first n < Lanes elements at p; the other lanes are 0. Only these elements are touched, also where an
/// instruction set's masked access is a whole one (SSE, NEON).
HWY_INLINE VF load_first(const float* p, size_t n) {
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float lanes[hn::MaxLanes(F())] = {};
  for (size_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::Load(F(), lanes);
#else
  return hn::MaskedLoad(hn::FirstN(F(), n), F(), p);
#endif
}
/// Stores the first n < Lanes lanes, and touches nothing else.
HWY_INLINE void store_first(VF v, float* p, size_t n) {
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float lanes[hn::MaxLanes(F())];
  hn::Store(v, F(), lanes);
  for (size_t i = 0; i < n; ++i) p[i] = lanes[i];
#else
  hn::BlendedStore(v, hn::FirstN(F(), n), F(), p);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_KERNELS_VECTOR_MATH_INL_H_
