#include "kernels/int8/int8_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/int8/pair_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/int8_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
#if HWY_TARGET != HWY_SCALAR
using I32 = hn::CappedTag<int32_t, kInt8Columns>;
using I16 = hn::Repartition<int16_t, I32>;
using V32 = hn::Vec<I32>;
using V16 = hn::Vec<I16>;

/// Vectors of a panel's columns, and rows that the registers can hold the sums of.
inline constexpr int64_t kVectors = kInt8Columns / static_cast<int64_t>(hn::MaxLanes(I32()));
inline constexpr int64_t kRows = kInt8Rows / kVectors;

HWY_INLINE V16 load_weights(const int16_t* p) { return hn::LoadU(I16(), p); }
HWY_INLINE V16 load_weights(const int8_t* p) {
  const hn::Rebind<int8_t, I16> narrow;
  return hn::PromoteTo(I16(), hn::LoadU(narrow, p));
}

template <int64_t R, typename T>
HWY_INLINE void tile(const int16_t* a, int64_t length, const T* weights, int32_t* sums, int64_t stride) {
  const I32 i32;
  const I16 i16;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(I32()));
  // Sums of pairs; where an instruction set keeps two, the odd ones come in `odd`.
  V32 acc[R][kVectors], odd[R][kVectors];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v) acc[r][v] = odd[r][v] = hn::Zero(i32);
  for (int64_t k = 0; k < length; k += 2, weights += 2 * kInt8Columns) {
    V16 w[kVectors];
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) w[v] = load_weights(weights + v * 2 * kLanes);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      int32_t pair;
      std::memcpy(&pair, a + r * length + k, sizeof pair);
      const V16 x = hn::BitCast(i16, hn::Set(i32, pair));
      ASSAY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v)
        acc[r][v] = hn::ReorderWidenMulAccumulate(i32, x, w[v], acc[r][v], odd[r][v]);
    }
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v)
    hn::StoreU(hn::RearrangeToOddPlusEven(acc[r][v], odd[r][v]), i32, sums + r * stride + v * kLanes);
}

#else

inline constexpr int64_t kRows = 1;

template <int64_t R, typename T>
void tile(const int16_t* a, int64_t length, const T* weights, int32_t* sums, int64_t stride) {
  for (int64_t r = 0; r < R; ++r)
    for (int64_t c = 0; c < kInt8Columns; ++c) {
      int32_t sum = 0;
      for (int64_t k = 0; k < length; ++k)
        sum += int32_t{a[r * length + k]} * weights[(k - k % 2) * kInt8Columns + 2 * c + k % 2];
      sums[r * stride + c] = sum;
    }
}

#endif

template <typename T>
void panel_rows(const int16_t* a, int64_t rows, int64_t length, const T* weights, int32_t* sums,
                int64_t stride) {
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows)
    tile<kRows>(a + r * length, length, weights, sums + r * stride, stride);
  // What is left in few pieces: one row at a time would read the weights as often.
  if constexpr (kRows > 6)
    if (r + 6 <= rows) tile<6>(a + r * length, length, weights, sums + r * stride, stride), r += 6;
  if constexpr (kRows > 3)
    if (r + 3 <= rows) tile<3>(a + r * length, length, weights, sums + r * stride, stride), r += 3;
  for (; r + 2 <= rows; r += 2) tile<2>(a + r * length, length, weights, sums + r * stride, stride);
  for (; r < rows; ++r) tile<1>(a + r * length, length, weights, sums + r * stride, stride);
}

void product(const Int8Weights& w, const void* packed, int64_t panel, int64_t count, const int16_t* a,
             int64_t rows, int32_t* sums, int64_t stride) {
  const int64_t length = int8_row_length(w.k);
  for (int64_t p = 0; p < count; ++p) {
    const char* weights = static_cast<const char*>(packed) + (panel + p) * w.panel_bytes();
    int32_t* const to = sums + p * kInt8Columns;
    if (w.wide)
      panel_rows(a, rows, length, reinterpret_cast<const int16_t*>(weights), to, stride);
    else
      panel_rows(a, rows, length, reinterpret_cast<const int8_t*>(weights), to, stride);
  }
}

template <typename T>
HWY_INLINE void widen(const T* from, int zero_point, int16_t* to, int64_t count) {
  const hn::ScalableTag<int16_t> i16;
  const hn::Rebind<T, decltype(i16)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(i16));
  const auto zero = hn::Set(i16, static_cast<int16_t>(zero_point));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Sub(hn::PromoteTo(i16, hn::LoadU(narrow, from + i)), zero), i16, to + i);
  for (; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero_point);
}

void widen_elements(const void* from, bool is_signed, int zero_point, int16_t* to, int64_t count) {
  if (is_signed)
    widen(static_cast<const int8_t*>(from), zero_point, to, count);
  else
    widen(static_cast<const uint8_t*>(from), zero_point, to, count);
}

/// Calls work(offset, load, store) for each vector; the last one is partial.
template <typename Work>
HWY_INLINE void for_vectors(int64_t count, Work work) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for (int64_t i = 0; i < count; i += lanes) work(i, std::min(lanes, count - i));
}

using VF = hn::Vec<F>;

HWY_INLINE VF load_some(const float* p, int64_t count) {
  if (count == static_cast<int64_t>(hn::Lanes(F()))) return hn::LoadU(F(), p);
  alignas(64) float rest[hn::MaxLanes(F())] = {};
  for (int64_t i = 0; i < count; ++i) rest[i] = p[i];
  return hn::Load(F(), rest);
}

HWY_INLINE VF load_some(const int32_t* p, int64_t count) {
  const hn::RebindToSigned<F> i32;
  if (count == static_cast<int64_t>(hn::Lanes(F()))) return hn::ConvertTo(F(), hn::LoadU(i32, p));
  alignas(64) int32_t rest[hn::MaxLanes(F())] = {};
  for (int64_t i = 0; i < count; ++i) rest[i] = p[i];
  return hn::ConvertTo(F(), hn::Load(i32, rest));
}

HWY_INLINE VF scaled(const int32_t* sums, const float* scale, const float* bias, int64_t i, int64_t count) {
  const VF b = bias == nullptr ? hn::Zero(F()) : load_some(bias + i, count);
  return hn::MulAdd(load_some(sums + i, count), load_some(scale + i, count), b);
}

void scale_elements(const int32_t* sums, int64_t count, const float* scale, const float* bias, float* y) {
  for_vectors(count, [&](int64_t i, int64_t n) HWY_ATTR {
    const VF v = scaled(sums, scale, bias, i, n);
    if (n == static_cast<int64_t>(hn::Lanes(F()))) return hn::StoreU(v, F(), y + i);
    alignas(64) float rest[hn::MaxLanes(F())];
    hn::Store(v, F(), rest);
    for (int64_t j = 0; j < n; ++j) y[i + j] = rest[j];
  });
}

template <typename T>
void requantize_to(const int32_t* sums, int64_t count, const float* scale, const float* bias,
                   const Requantization& r, T* q) {
  const F f;
  const hn::Rebind<T, F> narrow;
  const VF low = hn::Set(f, r.low), high = hn::Set(f, r.high), divisor = hn::Set(f, r.scale),
           zero_point = hn::Set(f, static_cast<float>(r.zero_point));
  const VF least = hn::Set(f, static_cast<float>(hwy::LimitsMin<T>())),
           most = hn::Set(f, static_cast<float>(hwy::LimitsMax<T>()));
  for_vectors(count, [&](int64_t i, int64_t n) HWY_ATTR {
    const VF v = hn::Min(hn::Max(scaled(sums, scale, bias, i, n), low), high);
    const VF steps = hn::Round(hn::Div(v, divisor));
    const VF kept = hn::Min(hn::Max(hn::Add(steps, zero_point), least), most);
    const auto result = hn::DemoteTo(narrow, hn::NearestInt(kept));
    if (n == static_cast<int64_t>(hn::Lanes(f))) return hn::StoreU(result, narrow, q + i);
    alignas(64) T rest[hn::MaxLanes(F())];
    hn::StoreU(result, narrow, rest);
    for (int64_t j = 0; j < n; ++j) q[i + j] = rest[j];
  });
}

void requantize_elements(const int32_t* sums, int64_t count, const float* scale, const float* bias,
                         const Requantization& r, void* q) {
  if (r.is_signed)
    requantize_to(sums, count, scale, bias, r, static_cast<int8_t*>(q));
  else
    requantize_to(sums, count, scale, bias, r, static_cast<uint8_t*>(q));
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(product);
HWY_EXPORT(widen_elements);
HWY_EXPORT(scale_elements);
HWY_EXPORT(requantize_elements);

namespace {

template <typename T>
void pack(const Int8Weights& w, const int16_t* source, int64_t row_stride, int64_t column_stride, T* to) {
  const int64_t length = int8_row_length(w.k);
  for (int64_t p = 0; p < w.panels(); ++p)
    for (int64_t k = 0; k < length; k += 2)
      for (int64_t c = 0; c < kInt8Columns; ++c)
        for (int64_t i = k; i < k + 2; ++i) {
          const int64_t column = p * kInt8Columns + c;
          *to++ = i < w.k && column < w.n ? static_cast<T>(source[i * row_stride + column * column_stride])
                                          : T{0};
        }
}

}  // namespace

void pack_int8_weights(const Int8Weights& weights, const int16_t* source, int64_t row_stride,
                       int64_t column_stride, void* packed) noexcept {
  if (weights.wide)
    pack(weights, source, row_stride, column_stride, static_cast<int16_t*>(packed));
  else
    pack(weights, source, row_stride, column_stride, static_cast<int8_t*>(packed));
}

void widen_int8(const void* from, bool is_signed, int zero_point, int16_t* to, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(widen_elements)(from, is_signed, zero_point, to, count);
}

void int8_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const int16_t* a, int64_t rows, int32_t* sums, int64_t stride) noexcept {
  if (multiplies_pairs()) return pair_product(weights, packed, panel, count, a, rows, sums, stride);
  HWY_DYNAMIC_DISPATCH(product)(weights, packed, panel, count, a, rows, sums, stride);
}

void scale_sums(const int32_t* sums, int64_t count, const float* scale, const float* bias,
                float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(scale_elements)(sums, count, scale, bias, y);
}

void requantize(const int32_t* sums, int64_t count, const float* scale, const float* bias,
                const Requantization& r, void* q) noexcept {
  HWY_DYNAMIC_DISPATCH(requantize_elements)(sums, count, scale, bias, r, q);
}

}  // namespace assay::kernels
#endif
