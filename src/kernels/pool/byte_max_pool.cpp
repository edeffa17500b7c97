#include "kernels/pool/byte_max_pool.h"

#include <algorithm>
#include <limits>

#include "kernels/image_rows.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool/byte_max_pool.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace byte_maxima {
namespace hn = hwy::HWY_NAMESPACE;

/// y[c] = the largest of it and x[p * pitch + c] for all p < pixels, where D's lanes are the channels.
template <typename D, typename T = hn::TFromD<D>>
HWY_INLINE void take_largest(D d, const T* x, int64_t pixels, int64_t pitch, T* y) {
  auto most = hn::LoadU(d, y);
  for (int64_t p = 0; p < pixels; ++p) most = hn::Max(most, hn::LoadU(d, x + p * pitch));
  hn::StoreU(most, d, y);
}

template <typename T>
void pool_positions(const Window& w, int64_t channels, int64_t first, int64_t count, const T* x, T* y) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 16> small;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), few = static_cast<int64_t>(hn::Lanes(small));
  const size_t last = w.rank() - 1;
  const int64_t pitch = w.dilations[last] * channels;
  Positions position(w, first);
  for (int64_t r = 0; r < count; ++r, y += channels, position.next()) {
    std::fill_n(y, channels, std::numeric_limits<T>::lowest());
    const int64_t start = position.start(last);
    const auto [begin, end] = inside_taps(w, start);
    if (begin >= end) continue;
    for_tap_rows(w, position, [&](int64_t, int64_t element) {
      if (element < 0) return;
      const T* const from = x + (element + start + begin * w.dilations[last]) * channels;
      const int64_t pixels = end - begin;
      int64_t c = 0;
      for (; c + lanes <= channels; c += lanes) take_largest(d, from + c, pixels, pitch, y + c);
      for (; c + few <= channels; c += few) take_largest(small, from + c, pixels, pitch, y + c);
      for (; c < channels; ++c)
        for (int64_t p = 0; p < pixels; ++p) y[c] = std::max(y[c], from[p * pitch + c]);
    });
  }
}

}  // namespace byte_maxima

void pool_bytes(const Window& w, bool is_signed, int64_t channels, int64_t first, int64_t count,
                const void* x, void* y) {
  if (is_signed)
    byte_maxima::pool_positions(w, channels, first, count, static_cast<const int8_t*>(x),
                                static_cast<int8_t*>(y));
  else
    byte_maxima::pool_positions(w, channels, first, count, static_cast<const uint8_t*>(x),
                                static_cast<uint8_t*>(y));
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(pool_bytes);

void byte_max_pool(const Window& window, bool is_signed, int64_t channels, int64_t first, int64_t count,
                   const void* x, void* y) noexcept {
  HWY_DYNAMIC_DISPATCH(pool_bytes)(window, is_signed, channels, first, count, x, y);
}

}  // namespace assay::kernels
#endif
