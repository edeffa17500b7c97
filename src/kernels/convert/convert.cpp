#include "kernels/convert/convert.h"

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert/convert.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/float16_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using U = hn::RebindToUnsigned<F>;
using VF = hn::Vec<F>;

/// Whole vectors; the rest passes through a buffer of one vector.
template <typename T, typename Load>
HWY_INLINE void widen(const T* from, float* to, size_t count, Load load) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(load(from + i), f, to + i);
  if (i == count) return;
  alignas(64) T rest[hn::MaxLanes(F())] = {};
  alignas(64) float wide[hn::MaxLanes(F())];
  for (size_t j = i; j < count; ++j) rest[j - i] = from[j];
  hn::Store(load(rest), f, wide);
  for (size_t j = i; j < count; ++j) to[j] = wide[j - i];
}

template <typename T, typename Save>
HWY_INLINE void narrow(const float* from, T* to, size_t count, Save save) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) save(hn::LoadU(f, from + i), to + i);
  if (i == count) return;
  alignas(64) float wide[hn::MaxLanes(F())] = {};
  alignas(64) T rest[hn::MaxLanes(F())];
  for (size_t j = i; j < count; ++j) wide[j - i] = from[j];
  save(hn::Load(f, wide), rest);
  for (size_t j = i; j < count; ++j) to[j] = rest[j - i];
}

HWY_INLINE VF from_bfloat16(const uint16_t* from) {
  const hn::Rebind<uint16_t, F> u16;
  return hn::BitCast(F(), hn::ShiftLeft<16>(hn::PromoteTo(U(), hn::LoadU(u16, from))));
}

/// Highway's own conversion cuts the low bits off.
HWY_INLINE void to_bfloat16(VF x, uint16_t* to) {
  const U u;
  const hn::Rebind<uint16_t, F> u16;
  const auto bits = hn::BitCast(u, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(u, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(u, 0x400000));
  const auto chosen = hn::IfThenElse(hn::RebindMask(u, hn::IsNaN(x)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(u16, hn::BitCast(I(), hn::ShiftRight<16>(chosen))), u16, to);
}

template <typename T>
HWY_INLINE VF from_integer(const T* from) {
  const hn::Rebind<T, F> narrow_tag;
  return hn::ConvertTo(F(), hn::PromoteTo(I(), hn::LoadU(narrow_tag, from)));
}

template <typename T>
HWY_INLINE void to_integer(VF x, T* to) {
  const hn::Rebind<T, F> narrow_tag;
  // The conversion to integers is defined within their range only.
  const VF low = hn::Set(F(), hwy::LimitsMin<T>()), high = hn::Set(F(), hwy::LimitsMax<T>());
  const VF number = hn::IfThenElseZero(hn::Eq(x, x), x);
  const auto rounded = hn::NearestInt(hn::Min(hn::Max(number, low), high));
  hn::StoreU(hn::DemoteTo(narrow_tag, rounded), narrow_tag, to);
}

void widen_elements(DType type, const void* from, float* to, size_t count) {
  switch (type) {
    case DType::kUInt8:
      return widen(static_cast<const uint8_t*>(from), to, count,
                   [](const uint8_t* p) HWY_ATTR { return from_integer(p); });
    case DType::kInt8:
      return widen(static_cast<const int8_t*>(from), to, count,
                   [](const int8_t* p) HWY_ATTR { return from_integer(p); });
    case DType::kFloat16:
      return widen(static_cast<const uint16_t*>(from), to, count,
                   [](const uint16_t* p) HWY_ATTR { return load_float16(F(), p); });
    case DType::kBFloat16:
      return widen(static_cast<const uint16_t*>(from), to, count,
                   [](const uint16_t* p) HWY_ATTR { return from_bfloat16(p); });
    default:
      HWY_ASSERT(false);
  }
}

void narrow_elements(DType type, const float* from, void* to, size_t count) {
  switch (type) {
    case DType::kUInt8:
      return narrow(from, static_cast<uint8_t*>(to), count,
                    [](VF x, uint8_t* p) HWY_ATTR { to_integer(x, p); });
    case DType::kInt8:
      return narrow(from, static_cast<int8_t*>(to), count,
                    [](VF x, int8_t* p) HWY_ATTR { to_integer(x, p); });
    case DType::kFloat16:
      return narrow(from, static_cast<uint16_t*>(to), count,
                    [](VF x, uint16_t* p) HWY_ATTR { store_float16(F(), x, p); });
    case DType::kBFloat16:
      return narrow(from, static_cast<uint16_t*>(to), count,
                    [](VF x, uint16_t* p) HWY_ATTR { to_bfloat16(x, p); });
    default:
      HWY_ASSERT(false);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(widen_elements);
HWY_EXPORT(narrow_elements);

void widen_row(DType type, const void* from, float* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(widen_elements)(type, from, to, count);
}

void narrow_row(DType type, const float* from, void* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(narrow_elements)(type, from, to, count);
}

}  // namespace assay::kernels
#endif
