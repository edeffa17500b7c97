// Division and rounding to quantized values, mostly by a product.
#if defined(ASSAY_KERNELS_INT8_QUOTIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_INT8_QUOTIENT_INL_H_
#undef ASSAY_KERNELS_INT8_QUOTIENT_INL_H_
#else
#define ASSAY_KERNELS_INT8_QUOTIENT_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// 1 / divisor; NaN where that lacks the precision of other numbers, so that rounded_quotient() divides.
HWY_INLINE float inverse_of(float divisor) {
  const float inverse = 1 / divisor;
  return std::isnormal(inverse) ? inverse : std::numeric_limits<float>::quiet_NaN();
}

/// Where `rounded`, from a product by inverse_of(divisor) below 1024 in magnitude, is what the quotient
/// rounds to: the product is off by at most 1024 * 2^-22, and no tie is that near.
template <typename D, typename V>
HWY_INLINE auto rounds_like_quotient(D d, V product, V rounded) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::Lt(hn::Abs(hn::Sub(product, rounded)), hn::Set(d, 0.4995F));
}

/// The whole number next to x / divisor, where that is below 1024 in magnitude; otherwise one beyond 1000, of
/// the same sign. `inverse` is inverse_of(divisor).
template <typename D, typename V>
HWY_INLINE V rounded_quotient(D d, V x, V divisor, V inverse) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V product = hn::Mul(x, inverse);
  const V rounded = hn::Round(product);
  if (hn::AllTrue(d, rounds_like_quotient(d, product, rounded))) return rounded;
  return hn::Round(hn::Div(x, divisor));
}

/// 1.5 * 2^23: added to a number, it rounds that to a whole one, whose last byte is the last of the sum.
inline constexpr float kRounder = 12582912;

/// The last bytes of numbers that kRounder was added to.
template <typename V, typename T>
HWY_INLINE void store_quantized(V rounded, T* q) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<hn::DFromV<V>> u32;
  const hn::Rebind<uint8_t, hn::DFromV<V>> narrow;
  hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(u32, rounded)), narrow, reinterpret_cast<uint8_t*>(q));
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_KERNELS_INT8_QUOTIENT_INL_H_
