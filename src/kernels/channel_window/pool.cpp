#include "kernels/channel_window/pool.h"

#include <algorithm>
#include <limits>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/channel_window/pool.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/partial_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using PoolF = hn::CappedTag<float, kChannelBlock>;
using PoolV = hn::Vec<PoolF>;
inline constexpr auto kPoolLanes = static_cast<int64_t>(hn::MaxLanes(PoolF()));

/// The taps of one result.
struct PoolTaps {
  const float* pixels;  ///< of the first tap inside
  int64_t rows, columns;
  int64_t row, column;  ///< from one tap to the next
  float scale;          ///< of a sum
};

template <bool kWhole>
HWY_INLINE PoolV load_pooled(const float* p, int64_t lanes) {
  if constexpr (kWhole)
    return hn::LoadU(PoolF(), p);
  else
    return load_first(PoolF(), p, static_cast<size_t>(lanes));
}

/// N vectors of channels, or the first lanes of one.
template <bool kMax, int64_t N, bool kWhole>
HWY_INLINE void pool_vectors(const PoolTaps& t, int64_t channel, int64_t lanes, float* y) {
  const PoolF f;
  PoolV all[N];
  ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v)
    all[v] = kMax ? hn::Set(f, -std::numeric_limits<float>::infinity()) : hn::Zero(f);
  for (int64_t r = 0; r < t.rows; ++r) {
    const float* at = t.pixels + r * t.row + channel;
    // Sums of rows, and the sum of these: errors grow with both extents, not with their product.
    PoolV some[N];
    ASSAY_UNROLL
    for (int64_t v = 0; v < N; ++v) some[v] = all[v];
    if constexpr (!kMax) {
      ASSAY_UNROLL
      for (int64_t v = 0; v < N; ++v) some[v] = hn::Zero(f);
    }
    for (int64_t c = 0; c < t.columns; ++c, at += t.column) {
      ASSAY_UNROLL
      for (int64_t v = 0; v < N; ++v) {
        const PoolV x = load_pooled<kWhole>(at + v * kPoolLanes, lanes);
        if constexpr (kMax)
          some[v] = hn::IfThenElse(hn::Or(hn::Gt(x, some[v]), hn::IsNaN(x)), x, some[v]);
        else
          some[v] = hn::Add(some[v], x);
      }
    }
    ASSAY_UNROLL
    for (int64_t v = 0; v < N; ++v) all[v] = kMax ? some[v] : hn::Add(all[v], some[v]);
  }
  ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v) {
    const PoolV result = kMax ? all[v] : hn::Mul(all[v], hn::Set(f, t.scale));
    if constexpr (kWhole)
      hn::StoreU(result, f, y + channel + v * kPoolLanes);
    else
      store_first(f, result, y + channel, static_cast<size_t>(lanes));
  }
}

template <bool kMax>
void pool_channels(const PoolTaps& t, int64_t first, int64_t end, float* y) {
  constexpr int64_t kTogether = 4;
  int64_t c = first;
  for (; c + kTogether * kPoolLanes <= end; c += kTogether * kPoolLanes)
    pool_vectors<kMax, kTogether, true>(t, c, kPoolLanes, y);
  for (; c + kPoolLanes <= end; c += kPoolLanes) pool_vectors<kMax, 1, true>(t, c, kPoolLanes, y);
  if (c < end) pool_vectors<kMax, 1, false>(t, c, end - c, y);
}

void pool_windows(const ChannelWindow& w, PoolKind kind, const float* image, int64_t row, int64_t first,
                  int64_t end, float* y) {
  const auto [top, bottom] = w.tap_rows(row);
  const int64_t line = row * w.row_stride - w.top + top * w.row_dilation;
  for (int64_t x = 0; x < w.out_columns; ++x, y += w.out_pixel) {
    const auto [left, right] = w.tap_columns(x);
    const int64_t pixel = x * w.column_stride - w.left + left * w.column_dilation;
    const int64_t taps = kind == PoolKind::kAverageWithPads ? w.taps() : (bottom - top) * (right - left);
    const PoolTaps t{image + line * w.row + pixel * w.pixel,
                     bottom - top,
                     right - left,
                     w.row_dilation * w.row,
                     w.column_dilation * w.pixel,
                     1.0F / static_cast<float>(taps)};
    if (kind == PoolKind::kMax)
      pool_channels<true>(t, first, end, y);
    else
      pool_channels<false>(t, first, end, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(pool_windows);

void pool_row(const ChannelWindow& window, PoolKind kind, const float* image, int64_t row, int64_t first,
              int64_t count, float* y) noexcept {
  if (window.fills_blocks) {
    for (int64_t b = first; b < first + count; ++b) HWY_DYNAMIC_DISPATCH(pool_windows)
    (window, kind, image + b * window.block, row, 0, kChannelBlock, y + b * window.out_block);
    return;
  }
  HWY_DYNAMIC_DISPATCH(pool_windows)
  (window, kind, image, row, first * kChannelBlock,
   std::min((first + count) * kChannelBlock, window.channels), y);
}

}  // namespace assay::kernels
#endif
