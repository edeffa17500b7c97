// float32 functions on vectors, a few units in the last place from the true value over the whole range,
// infinities and NaN included. Coefficients are minimax fits on the stated interval.
#if defined(ASSAY_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_VECTOR_MATH_INL_H_
#undef ASSAY_KERNELS_VECTOR_MATH_INL_H_
#else
#define ASSAY_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/partial_vectors-inl.h"
#include "kernels/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

HWY_INLINE VF constant(float x) { return hn::Set(F(), x); }

/// Vectors that the same function is computed for, one instruction for each in turn. Functions are long
/// chains, and a processor looks for work no more than a hundred instructions ahead: one vector after the
/// other it finds half of the parallel work.
inline constexpr size_t kTogether = HWY_TARGET == HWY_AVX3 ? 4 : 2;
struct Vectors {
  VF v[kTogether];
};

HWY_INLINE VF vector_of(VF x, size_t) { return x; }
HWY_INLINE VF vector_of(const Vectors& x, size_t i) { return x.v[i]; }

/// op of one vector, or of each of several; single ones among them are shared by all.
template <typename Op, typename... V>
HWY_INLINE auto each(const Op& op, const V&... x) {
  if constexpr ((std::is_same_v<V, VF> && ...)) {
    return op(x...);
  } else {
    Vectors y;
    ASSAY_UNROLL
    for (size_t i = 0; i < kTogether; ++i) y.v[i] = op(vector_of(x, i)...);
    return y;
  }
}

/// Vectors that are this many numbers apart, or adjacent.
HWY_INLINE Vectors load_together(const float* p, size_t distance = hn::Lanes(F())) {
  Vectors x;
  ASSAY_UNROLL
  for (size_t i = 0; i < kTogether; ++i) x.v[i] = hn::LoadU(F(), p + i * distance);
  return x;
}
HWY_INLINE void store_together(const Vectors& x, float* p, size_t distance = hn::Lanes(F())) {
  ASSAY_UNROLL
  for (size_t i = 0; i < kTogether; ++i) hn::StoreU(x.v[i], F(), p + i * distance);
}

template <typename A, typename B>
HWY_INLINE auto add(const A& a, const B& b) {
  return each([](VF x, VF y) HWY_ATTR { return hn::Add(x, y); }, a, b);
}
template <typename A, typename B>
HWY_INLINE auto sub(const A& a, const B& b) {
  return each([](VF x, VF y) HWY_ATTR { return hn::Sub(x, y); }, a, b);
}
template <typename A, typename B>
HWY_INLINE auto mul(const A& a, const B& b) {
  return each([](VF x, VF y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
}
/// a * b + c
template <typename A, typename B, typename C>
HWY_INLINE auto mul_add(const A& a, const B& b, const C& c) {
  return each([](VF x, VF y, VF z) HWY_ATTR { return hn::MulAdd(x, y, z); }, a, b, c);
}
/// c - a * b
template <typename A, typename B, typename C>
HWY_INLINE auto neg_mul_add(const A& a, const B& b, const C& c) {
  return each([](VF x, VF y, VF z) HWY_ATTR { return hn::NegMulAdd(x, y, z); }, a, b, c);
}
template <typename A, typename B>
HWY_INLINE auto smaller(const A& a, const B& b) {
  return each([](VF x, VF y) HWY_ATTR { return hn::Min(x, y); }, a, b);
}
template <typename V>
HWY_INLINE V absolute(const V& a) {
  return each([](VF x) HWY_ATTR { return hn::Abs(x); }, a);
}

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

#if HWY_TARGET != HWY_AVX3
/// e^r for r in [-0.35, 0.35].
template <typename V>
HWY_INLINE V exp_of_rest(const V& r) {
  V p = mul_add(constant(0.00138145988f), r, constant(0.00836871658f));
  p = mul_add(p, r, constant(0.041668389f));
  p = mul_add(p, r, constant(0.166665211f));
  p = mul_add(p, r, constant(0.49999994f));
  return add(mul_add(mul(r, r), p, r), constant(1.0f));
}
/// x - n * ln(2)
template <typename V>
HWY_INLINE V without_powers(const V& x, const V& n) {
  return neg_mul_add(n, constant(-2.12194440e-4f), neg_mul_add(n, constant(0.693359375f), x));
}
#endif

/// e^x for x in [-104, 89]. NaN stays NaN.
template <typename V>
HWY_INLINE V exp_within(const V& clamped) {
#if HWY_TARGET == HWY_AVX3
  // 2^(n / 16) from a table leaves so little that three terms are enough. What is added rounds to sixteenths,
  // which are the last bits then.
  alignas(64) static constexpr float kPowers[16] = {
      1.0f,        1.04427378f, 1.09050773f, 1.13878863f, 1.18920712f, 1.24185781f, 1.29683955f, 1.35425555f,
      1.41421356f, 1.47682615f, 1.54221083f, 1.61049033f, 1.68179283f, 1.75625216f, 1.83400809f, 1.91520656f};
  const VF shift = constant(786432.0f);
  const V t = mul_add(clamped, constant(1.44269504f), shift);
  const V sixteenths = sub(t, shift);
  V rest = neg_mul_add(sixteenths, constant(0.693359375f), clamped);
  rest = neg_mul_add(sixteenths, constant(-2.12194440e-4f), rest);
  const VF powers{_mm512_load_ps(kPowers)};
  const V power =
      each([](VF i, VF table)
               HWY_ATTR { return VF{_mm512_permutexvar_ps(_mm512_castps_si512(i.raw), table.raw)}; },
           t, powers);
  const V q = mul_add(mul_add(rest, constant(0.166671666f), constant(0.5f)), rest, constant(1.0f));
  return each([](VF x, VF n) HWY_ATTR { return VF{_mm512_scalef_ps(x.raw, n.raw)}; },
              mul_add(mul(power, rest), q, power), sixteenths);
#else
  const V n = each([](VF x) HWY_ATTR { return hn::Round(x); }, mul(clamped, constant(1.44269504f)));
  return each([](VF x, VF power) HWY_ATTR { return scale_by_power(x, power); },
              exp_of_rest(without_powers(clamped, n)), n);
#endif
}

/// e^x for x in [-87.33654, 88.7], where it is a normal number. Arbitrary for NaN.
template <typename V>
HWY_INLINE V exp_of_normal(const V& x) {
#if HWY_TARGET == HWY_AVX3
  return exp_within(x);
#else
  // The addend rounds to whole numbers, which are then the last bits: shifted, they become an exponent's.
  const VF shift = constant(12582912.0f);
  const V t = mul_add(x, constant(1.44269504f), shift);
  return each(
      [](VF e, VF t) HWY_ATTR {
        const I i;
        return hn::BitCast(F(), hn::Add(hn::BitCast(i, e), hn::ShiftLeft<23>(hn::BitCast(i, t))));
      },
      exp_of_rest(without_powers(x, sub(t, shift))), t);
#endif
}

/// e^x. 0 below -104, infinity above 88.73.
template <typename V>
HWY_INLINE V exp(const V& x) {
  // Results that underflow take processors a hundred times as long to compute.
  const V y = exp_within(each(
      [](VF v)
          HWY_ATTR { return hn::IfThenZeroElse(hn::Lt(v, constant(-104.0f)), hn::Min(v, constant(89.0f))); },
      x));
  return each(
      [](VF v, VF e) HWY_ATTR {
        return hn::IfThenElse(hn::IsNaN(v), v, hn::IfThenZeroElse(hn::Lt(v, constant(-104.0f)), e));
      },
      x, y);
}

/// e^x for x <= 0 as part of a sum of at least 1: 0 where it would be subnormal, which takes as long. NaN
/// stays NaN.
template <typename V>
HWY_INLINE V exp_of_part(const V& x) {
  const VF least = constant(-87.33654f);
  const V y = exp_of_normal(each([](VF v, VF low) HWY_ATTR { return hn::Max(low, v); }, x, least));
  return each(
      [](VF v, VF e, VF low) HWY_ATTR {
        const VF part = hn::IfThenZeroElse(hn::Lt(v, low), e);
#if HWY_TARGET == HWY_AVX3
        return part;  // the maximum is the second number where one is NaN
#else
        return hn::IfThenElse(hn::IsNaN(v), v, part);
#endif
      },
      x, y, least);
}

/// Natural logarithm; -infinity at 0, NaN below.
HWY_INLINE VF log(VF x) {
  const F f;
  const I i;
  const VF smallest = constant(1.17549435e-38f);
  const auto subnormal = hn::Lt(x, smallest);
  const VF scaled = hn::IfThenElse(subnormal, hn::Mul(x, constant(8388608.0f)), x);
  // Exponent such that the mantissa is in [sqrt(1/2), sqrt(2)).
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
template <typename V>
HWY_INLINE V reciprocal_above_one(const V& x) {
  const VF one = constant(1.0f);
#if HWY_TARGET == HWY_AVX3
  // 14 bits, doubled: a division takes longer than all that surrounds it.
  const V y = each([](VF v) HWY_ATTR { return hn::ApproximateReciprocal(v); }, x);
  return mul_add(y, neg_mul_add(x, y, one), y);
#else
  return each([](VF a, VF v) HWY_ATTR { return hn::Div(a, v); }, one, x);
#endif
}

/// e^-|x|, 0 where it would be subnormal. NaN stays NaN.
template <typename V>
HWY_INLINE V exp_of_negative_magnitude(const V& x) {
  return exp_of_part(each([](VF v) HWY_ATTR { return hn::Neg(hn::Abs(v)); }, x));
}

/// 1 / (1 + e^-x), from e^-|x|, which neither overflows nor loses bits on either side.
template <typename V>
HWY_INLINE V sigmoid(const V& x) {
  const V e = exp_of_negative_magnitude(x);
  const V y = reciprocal_above_one(add(constant(1.0f), e));
  return each(
      [](VF x, VF e, VF y) HWY_ATTR {
#if HWY_TARGET == HWY_AVX3
        return VF{_mm512_mask_mul_ps(y.raw, _mm512_movepi32_mask(_mm512_castps_si512(x.raw)), y.raw, e.raw)};
#else
        return hn::IfThenElse(hn::Lt(x, hn::Zero(F())), hn::Mul(e, y), y);
#endif
      },
      x, e, y);
}

template <typename V>
HWY_INLINE V tanh(const V& x) {
  const V a = absolute(x);
  const V z = mul(x, x);
  // tanh(x) = x + x * z * P(z) on |x| < 0.55.
  V p = mul_add(constant(0.00239899964f), z, constant(-0.00841679424f));
  p = mul_add(p, z, constant(0.0217837673f));
  p = mul_add(p, z, constant(-0.0539597906f));
  p = mul_add(p, z, constant(0.133332953f));
  p = mul_add(p, z, constant(-0.333333313f));
  const V near = mul_add(mul(x, z), p, x);
  // From 9.02 on 1 to float32's precision. The polynomial handles NaN.
  const V b = smaller(a, constant(9.1f));
  const V e = exp_of_normal(add(b, b));
  const V y = reciprocal_above_one(add(e, constant(1.0f)));
  const V far = neg_mul_add(constant(2.0f), y, constant(1.0f));
  return each([](VF x, VF a, VF near, VF far)
                  HWY_ATTR { return hn::IfThenElse(hn::Ge(a, constant(0.55f)), hn::CopySign(far, x), near); },
              x, a, near, far);
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
template <typename V>
HWY_INLINE V erf(const V& x) {
  // Of two operands the minimum is the second where one is NaN.
  const V a = each([](VF v) HWY_ATTR { return VF{_mm512_min_ps(constant(3.9f).raw, hn::Abs(v).raw)}; }, x);
  const V whole = each(
      [](VF v) HWY_ATTR { return VF{_mm512_roundscale_ps(v.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; },
      mul(a, constant(4.0f)));
  const V piece =
      each([](VF v) HWY_ATTR { return VF{_mm512_castsi512_ps(_mm512_cvttps_epi32(v.raw))}; }, whole);
  const V r = neg_mul_add(whole, constant(0.25f), a);
  const auto coefficient = [&](int power) HWY_ATTR {
    const VF table{_mm512_load_ps(kErfPieces[power])};
    return each([](VF i, VF of)
                    HWY_ATTR { return VF{_mm512_permutexvar_ps(_mm512_castps_si512(i.raw), of.raw)}; },
                piece, table);
  };
  V y = coefficient(5);
  ASSAY_UNROLL
  for (int power = 4; power >= 0; --power) y = mul_add(y, r, coefficient(power));
  return each([](VF v, VF sign) HWY_ATTR { return hn::CopySign(v, sign); }, y, x);
}
#elif HWY_TARGET == HWY_AVX2
/// The same about i * 35 / 64, on [-35/128, 35/128], for i < 8: a table is a vector.
alignas(32) inline constexpr float kErfPieces[7][8] = {
    {0.0f, 0.560713172f, 0.87808758f, 0.979669631f, 0.998022497f, 0.999889791f, 0.999996543f, 0.99999994f},
    {1.12837923f, 0.836700141f, 0.341125309f, 0.0764688551f, 0.00942508876f, 0.000638762198f, 2.38071698e-05f,
     4.87568627e-07f},
    {-1.32098853e-06f, -0.457570285f, -0.373106748f, -0.125457183f, -0.0206173118f, -0.00174654613f,
     -7.81064446e-05f, -1.86978775e-06f},
    {-0.376069784f, -0.112119943f, 0.158293858f, 0.111758776f, 0.0269316472f, 0.00296771922f, 0.000162146403f,
     4.60432693e-06f},
    {-0.000890220283f, 0.183144823f, 0.0378428437f, -0.0498318523f, -0.0225881226f, -0.00347893406f,
     -0.000240541631f, -7.93160871e-06f},
    {0.119198002f, -0.00530166272f, -0.0625869781f, -0.00161554746f, 0.0115136011f, 0.00299936137f,
     0.00028773339f, 1.13697406e-05f},
    {-0.021125935f, -0.0466741472f, 0.0121358959f, 0.0136826206f, -0.00229274132f, -0.00174065086f,
     -0.000241098882f, -1.74838533e-05f},
};

template <typename V>
HWY_INLINE V erf(const V& x) {
  // From 3.92 on 1 to float32's precision. Of two operands the minimum is the second where one is NaN.
  const V a = each([](VF v) HWY_ATTR { return VF{_mm256_min_ps(constant(4.0f).raw, hn::Abs(v).raw)}; }, x);
  // As in exp_of_normal(): the last three bits are the piece.
  const VF shift = constant(12582912.0f);
  const V piece = mul_add(a, constant(64.0f / 35), shift);
  const V r = neg_mul_add(sub(piece, shift), constant(35.0f / 64), a);
  const auto coefficient = [&](int power) HWY_ATTR {
    const VF table{_mm256_load_ps(kErfPieces[power])};
    return each([](VF i, VF of)
                    HWY_ATTR { return VF{_mm256_permutevar8x32_ps(of.raw, _mm256_castps_si256(i.raw))}; },
                piece, table);
  };
  V y = coefficient(6);
  ASSAY_UNROLL
  for (int power = 5; power >= 0; --power) y = mul_add(y, r, coefficient(power));
  return each([](VF v, VF sign) HWY_ATTR { return hn::CopySign(v, sign); }, y, x);
}
#else
/// Error function.
template <typename V>
HWY_INLINE V erf(const V& x) {
  const V a = absolute(x);
  const V z = mul(x, x);
  // erf(x) = x * (2 / sqrt(pi) + z * P(z)) on |x| < 1.
  V p = mul_add(constant(7.93311629e-05f), z, constant(-0.000803503382f));
  p = mul_add(p, z, constant(0.00519129215f));
  p = mul_add(p, z, constant(-0.0268554837f));
  p = mul_add(p, z, constant(0.112836301f));
  p = mul_add(p, z, constant(-0.376126319f));
  const V near = mul_add(x, constant(1.12837917f), mul(x, mul(z, p)));
  // 1 - exp(-Q(|x|)) on [0.95, 4]; beyond, 1 to float32's precision.
  const V t = smaller(a, constant(4.0f));
  V q = mul_add(constant(2.14960492e-05f), t, constant(-0.000439105643f));
  q = mul_add(q, t, constant(0.00419360772f));
  q = mul_add(q, t, constant(-0.0251789596f));
  q = mul_add(q, t, constant(0.108372465f));
  q = mul_add(q, t, constant(0.633262634f));
  q = mul_add(q, t, constant(1.12955678f));
  q = mul_add(q, t, constant(-0.000183443088f));
  const V far = sub(constant(1.0f), exp_of_normal(each([](VF v) HWY_ATTR { return hn::Neg(v); }, q)));
  return each(
      [](VF x, VF a, VF near, VF far) HWY_ATTR {
        const VF y = hn::IfThenElse(hn::Lt(a, constant(1.0f)), near, hn::CopySign(far, x));
        return hn::IfThenElse(hn::IsNaN(x), x, y);
      },
      x, a, near, far);
}
#endif

/// Maximum and minimum that give NaN when either operand is NaN.
HWY_INLINE VF max_nan(VF a, VF b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Max(a, b)));
}
HWY_INLINE VF min_nan(VF a, VF b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Min(a, b)));
}

HWY_INLINE VF load_first(const float* p, size_t n) { return load_first(F(), p, n); }
HWY_INLINE void store_first(VF v, float* p, size_t n) { store_first(F(), v, p, n); }

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_KERNELS_VECTOR_MATH_INL_H_
