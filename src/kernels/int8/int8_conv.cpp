#include "kernels/int8/int8_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/image_rows.h"
#include "kernels/int8/int8_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/int8_conv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;

/// sums[c] += (x[c] - zero_point) * w[c]
template <typename T>
HWY_INLINE void add_tap(const T* x, float zero_point, const float* w, float* sums, int64_t channels) {
  const F f;
  const hn::Rebind<T, F> narrow;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto zero = hn::Set(f, zero_point);
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto v = hn::Sub(hn::ConvertTo(f, hn::PromoteTo(i32, hn::LoadU(narrow, x + c))), zero);
    hn::StoreU(hn::MulAdd(v, hn::LoadU(f, w + c), hn::LoadU(f, sums + c)), f, sums + c);
  }
  for (; c < channels; ++c) sums[c] += (static_cast<float>(x[c]) - zero_point) * w[c];
}

void add_taps(bool is_signed, const void* x, float zero_point, const float* w, float* sums,
              int64_t channels) {
  if (is_signed)
    add_tap(static_cast<const int8_t*>(x), zero_point, w, sums, channels);
  else
    add_tap(static_cast<const uint8_t*>(x), zero_point, w, sums, channels);
}

/// Whole numbers, in place.
void floats_to_integers(int32_t* numbers, int64_t count) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::NearestInt(hn::BitCast(f, hn::LoadU(i32, numbers + i))), i32, numbers + i);
  for (; i < count; ++i) {
    float x;
    std::memcpy(&x, numbers + i, sizeof x);
    numbers[i] = static_cast<int32_t>(x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(add_taps);
HWY_EXPORT(floats_to_integers);

void gather_int8_rows(const Int8Images& images, const void* x, int64_t first, int64_t count,
                      int16_t* rows) noexcept {
  const int64_t c = images.channels;
  const auto* const pixels = static_cast<const char*>(x);
  gather_rows(*images.window, c, first, count, int8_row_length(images.depth()), rows,
              [&](int64_t pixel, int64_t n, int16_t* to) {
                widen_int8(pixels + pixel * c, images.is_signed, images.zero_point, to, n * c);
              });
}

void depthwise_int8(const Int8Images& images, const void* x, const float* weights, int64_t first,
                    int64_t count, int32_t* sums) noexcept {
  const Window& w = *images.window;
  const size_t last = w.rank() - 1;
  const int64_t c = images.channels;
  const auto* const pixels = static_cast<const char*>(x);
  const auto add = HWY_DYNAMIC_DISPATCH(add_taps);
  Positions position(w, first);
  const auto store = HWY_DYNAMIC_DISPATCH(floats_to_integers);
  for (int64_t r = 0; r < count; ++r, sums += c, position.next()) {
    // float32 numbers until all taps are in.
    auto* const y = reinterpret_cast<float*>(sums);
    std::fill_n(y, c, 0.0F);
    const int64_t start = position.start(last);
    const auto [begin, end] = inside_taps(w, start);
    for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
      if (element < 0) return;
      for (int64_t t = begin; t < end; ++t)
        add(images.is_signed, pixels + (element + start + t * w.dilations[last]) * c,
            static_cast<float>(images.zero_point), weights + (tap + t) * c, y, c);
    });
    store(sums, c);
  }
}

}  // namespace assay::kernels
#endif
