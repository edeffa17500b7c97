// float16 and float32 in vectors. Highway's own conversions on processors without instructions for them cut
// low bits off and know neither infinities nor NaN.
#if defined(ASSAY_KERNELS_FLOAT16_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_FLOAT16_VECTORS_INL_H_
#undef ASSAY_KERNELS_FLOAT16_VECTORS_INL_H_
#else
#define ASSAY_KERNELS_FLOAT16_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2

/// As many numbers as D has lanes, exactly.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_float16(D d, const uint16_t* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> u;
  const auto bits = hn::PromoteTo(u, hn::LoadU(hn::Rebind<uint16_t, D>(), from));
  const auto magnitude = hn::And(bits, hn::Set(u, 0x7fff));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  // The exponent has another bias; a multiplication puts subnormal numbers right, too.
  const auto finite = hn::Mul(hn::BitCast(d, shifted), hn::Set(d, 0x1p112F));
  const auto special = hn::BitCast(d, hn::Or(shifted, hn::Set(u, 0x7f800000)));
  const auto is_special = hn::RebindMask(
      d, hn::Gt(hn::BitCast(hn::RebindToSigned<D>(), magnitude), hn::Set(hn::RebindToSigned<D>(), 0x7bff)));
  const auto sign = hn::BitCast(d, hn::ShiftLeft<16>(hn::And(bits, hn::Set(u, 0x8000))));
  return hn::Or(hn::IfThenElse(is_special, special, finite), sign);
}

/// Rounds to the nearest, halves to even; NaN stays NaN.
template <class D>
HWY_INLINE void store_float16(D d, hwy::HWY_NAMESPACE::Vec<D> x, uint16_t* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> u;
  const hn::RebindToSigned<D> i;
  const auto bits = hn::BitCast(u, x);
  const auto sign = hn::And(bits, hn::Set(u, 0x80000000));
  const auto magnitude = hn::Xor(bits, sign);
  const auto above = [&](uint32_t limit) HWY_ATTR {  // no sign bit: as signed numbers
    return hn::RebindMask(u, hn::Gt(hn::BitCast(i, magnitude), hn::Set(i, static_cast<int32_t>(limit))));
  };
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u, 1));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, odd), hn::Set(u, 0xfffU - (uint32_t{112} << 23))));
  // At 1/2 the last place of a float32 is that of the subnormal numbers.
  const auto half = hn::Set(d, 0.5F);
  const auto subnormal =
      hn::Sub(hn::BitCast(u, hn::Add(hn::BitCast(d, magnitude), half)), hn::BitCast(u, half));
  const auto nan = hn::Or(hn::Set(u, 0x7e00), hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u, 0x3ff)));
  auto y = hn::IfThenElse(above(0x387fffff), normal, subnormal);
  y = hn::IfThenElse(above(0x477fffff), hn::Set(u, 0x7c00), y);
  y = hn::IfThenElse(above(0x7f800000), nan, y);
  y = hn::Or(y, hn::ShiftRight<16>(sign));
  // Through signed numbers, which is how a vector is narrowed.
  const auto extended = hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(i, y)));
  const hn::Rebind<int16_t, D> i16;
  const hn::Rebind<uint16_t, D> u16;
  hn::StoreU(hn::BitCast(u16, hn::DemoteTo(i16, extended)), u16, to);
}

#else

template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_float16(D d, const uint16_t* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<hwy::float16_t, D> f16;
  return hn::PromoteTo(d, hn::BitCast(f16, hn::LoadU(hn::Rebind<uint16_t, D>(), from)));
}

template <class D>
HWY_INLINE void store_float16(D, hwy::HWY_NAMESPACE::Vec<D> x, uint16_t* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<hwy::float16_t, D> f16;
  const hn::Rebind<uint16_t, D> u16;
  hn::StoreU(hn::BitCast(u16, hn::DemoteTo(f16, x)), u16, to);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
