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

/// What a window sees at a position: rows of pixels that lie `pitch` apart.
template <typename T>
struct SeenRows {
  const T* rows[kMaxByteRows];
  int64_t count = 0, pixels = 0, pitch = 0;
};

/// y[c] = the largest x[c] of all pixels, where D's lanes are the channels.
template <typename D, typename T = hn::TFromD<D>>
HWY_INLINE void take_largest(D d, const SeenRows<T>& seen, int64_t c, T* y) {
  auto most = hn::Set(d, hwy::LowestValue<T>());
  for (int64_t r = 0; r < seen.count; ++r)
    for (int64_t p = 0; p < seen.pixels; ++p)
      most = hn::Max(most, hn::LoadU(d, seen.rows[r] + c + p * seen.pitch));
  hn::StoreU(most, d, y + c);
}

template <typename T>
HWY_INLINE void take_position(const SeenRows<T>& seen, int64_t channels, T* y) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 16> small;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), few = static_cast<int64_t>(hn::Lanes(small));
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) take_largest(d, seen, c, y);
  for (; c + few <= channels; c += few) take_largest(small, seen, c, y);
  for (; c < channels; ++c) {
    T most = hwy::LowestValue<T>();
    for (int64_t r = 0; r < seen.count; ++r)
      for (int64_t p = 0; p < seen.pixels; ++p) most = std::max(most, seen.rows[r][c + p * seen.pitch]);
    y[c] = most;
  }
}

template <typename T>
void pool_positions(const Window& w, int64_t channels, int64_t first, int64_t count, const T* x, T* y) {
  const size_t last = w.rank() - 1;
  const int64_t move = w.strides[last] * channels, most_start = w.in[last] - w.reach(last);
  SeenRows<T> seen;
  seen.pitch = w.dilations[last] * channels;
  Positions position(w, first);
  bool inside = false;
  for (int64_t r = 0; r < count; ++r, y += channels, position.next()) {
    const int64_t start = position.start(last);
    // Where this position and the one before it in the row lie inside along the last axis, all moves.
    const bool follows = inside && start + w.begin[last] > 0;
    inside = start >= 0 && start <= most_start;
    if (follows && inside) {
      for (int64_t i = 0; i < seen.count; ++i) seen.rows[i] += move;
    } else {
      const auto [begin, end] = inside_taps(w, start);
      seen.count = 0;
      seen.pixels = end - begin;
      const int64_t at = start + begin * w.dilations[last];
      if (begin < end)
        for_tap_rows(w, position, [&](int64_t, int64_t element) {
          if (element >= 0) seen.rows[seen.count++] = x + (element + at) * channels;
        });
    }
    take_position(seen, channels, y);
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
