#include "kernels/channel_window/depthwise.h"

#include <algorithm>
#include <limits>

#include "kernels/channel_window/finish_windows.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/channel_window/depthwise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/channel_window/channel_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// Results side by side: their sums, a row of taps, one pixel and the bounds fit in the registers (32 of the
/// widest vectors, 16 of others), and common extents are multiples of 7.
inline constexpr int64_t kMostResults = kWindowLanes == 16 ? 14 : 7;

/// Vectors of channels of a row of windows, and the taps that lie inside the image.
struct WindowRow {
  const ChannelWindow& conv;
  int64_t first_tap_row, tap_rows;
  const float* image;  ///< first row of the image that counts, channel 0
  const float* packed;
  const float* bias;
  int64_t first, count;  ///< blocks
  float low, high;
  float* y;
};

/// One vector of a tile.
struct WindowLanes {
  const float* pixels;  ///< that of the first result's first tap, which may lie outside
  const float* weights;
  const float* bias;
  float* y;
  int64_t lanes;  ///< that count
};

template <bool kWhole>
HWY_INLINE VW load_channels(const float* p, int64_t lanes) {
  if constexpr (kWhole)
    return hn::LoadU(WF(), p);
  else
    return hn::MaskedLoad(hn::FirstN(WF(), static_cast<size_t>(lanes)), WF(), p);
}

template <bool kWhole, int64_t T>
HWY_INLINE void store_results(const WindowRow& row, const WindowLanes& l, VW (&acc)[T]) {
  const WF f;
  const VW low = hn::Set(f, row.low), high = hn::Set(f, row.high);
  ASSAY_UNROLL
  for (int64_t t = 0; t < T; ++t)
    store_channels<kWhole>(bounded(acc[t], low, high), l.y + t * row.conv.out_pixel, l.lanes);
}

/// Windows with kColumns taps in a row: a pixel is loaded once for all results that see it. Pixels [first,
/// last) of the tile's lie inside.
template <int64_t kColumns, int64_t kStride>
struct DenseWindows {
  static constexpr int64_t kMost = kStride == 2 ? kMostResults / 2 : kColumns == 3 ? kMostResults : 7;
  static bool fits(const ChannelWindow& c) {
    return c.kernel_columns == kColumns && c.column_stride == kStride && c.column_dilation == 1;
  }

  template <int64_t T, bool kInside, bool kWhole>
  static HWY_INLINE void tile(const WindowRow& row, const WindowLanes& l, int64_t x) {
    constexpr int64_t kPixels = (T - 1) * kStride + kColumns;
    const int64_t pixel = row.conv.pixel, first = -x, last = row.conv.in_columns - x;
    VW acc[T];
    const VW start = l.bias == nullptr ? hn::Zero(WF()) : hn::LoadU(WF(), l.bias);
    ASSAY_UNROLL
    for (int64_t t = 0; t < T; ++t) acc[t] = start;
    const float* line = l.pixels;
    const float* w = l.weights;
    for (int64_t k = row.tap_rows; k > 0; --k, w += kColumns * kChannelBlock) {
      VW taps[kColumns];
      ASSAY_UNROLL
      for (int64_t j = 0; j < kColumns; ++j) taps[j] = hn::LoadU(WF(), w + j * kChannelBlock);
      ASSAY_UNROLL
      for (int64_t i = 0; i < kPixels; ++i) {
        if (!kInside && (i < first || i >= last)) continue;
        const VW v = load_channels<kWhole>(line + i * pixel, l.lanes);
        ASSAY_UNROLL
        for (int64_t t = 0; t < T; ++t)
          if (i >= t * kStride && i < t * kStride + kColumns)
            acc[t] = hn::MulAdd(v, taps[i - t * kStride], acc[t]);
      }
      line += row.conv.row_dilation * row.conv.row;
    }
    store_results<kWhole, T>(row, l, acc);
  }
};

/// Any window.
struct AnyWindows {
  static constexpr int64_t kMost = 7;

  template <int64_t T, bool kInside, bool kWhole>
  static HWY_INLINE void tile(const WindowRow& row, const WindowLanes& l, int64_t x) {
    const ChannelWindow& c = row.conv;
    VW acc[T];
    const VW start = l.bias == nullptr ? hn::Zero(WF()) : hn::LoadU(WF(), l.bias);
    ASSAY_UNROLL
    for (int64_t t = 0; t < T; ++t) acc[t] = start;
    const float* w = l.weights;
    for (int64_t k = 0; k < row.tap_rows; ++k) {
      for (int64_t j = 0; j < c.kernel_columns; ++j, w += kChannelBlock) {
        const VW tap = hn::LoadU(WF(), w);
        const float* const line = l.pixels + k * c.row_dilation * c.row;
        ASSAY_UNROLL
        for (int64_t t = 0; t < T; ++t) {
          const int64_t at = j * c.column_dilation + t * c.column_stride;
          if (!kInside && (x + at < 0 || x + at >= c.in_columns)) continue;
          acc[t] = hn::MulAdd(load_channels<kWhole>(line + at * c.pixel, l.lanes), tap, acc[t]);
        }
      }
    }
    store_results<kWhole, T>(row, l, acc);
  }
};

/// T results from column `column` on, for all vectors.
template <typename Kind, int64_t T, bool kInside>
HWY_NOINLINE void window_tile(const WindowRow& row, int64_t column) {
  const ChannelWindow& c = row.conv;
  const int64_t x = column * c.column_stride - c.left, taps = c.taps(),
                before = row.first_tap_row * c.kernel_columns * kChannelBlock;
  for (int64_t b = row.first; b < row.first + row.count; ++b)
    for (int64_t v = 0; v < kChannelBlock; v += kWindowLanes) {
      const int64_t channel = b * kChannelBlock + v,
                    lanes = c.fills_blocks ? kWindowLanes : c.channels - channel;
      if (lanes <= 0) return;
      const WindowLanes l{row.image + b * c.block + v + x * c.pixel,
                          row.packed + b * kChannelBlock * taps + before + v,
                          row.bias == nullptr ? nullptr : row.bias + channel,
                          row.y + b * c.out_block + v + column * c.out_pixel, lanes};
      if (lanes >= kWindowLanes)
        Kind::template tile<T, kInside, true>(row, l, x);
      else
        Kind::template tile<T, kInside, false>(row, l, x);
    }
}

template <typename Kind>
void windows_of_row(const WindowRow& row) {
  const ChannelWindow& c = row.conv;
  int64_t column = 0;
  const auto take = [&]<int64_t T>() {
    for (; column + T <= c.out_columns; column += T) {
      const int64_t x = column * c.column_stride - c.left,
                    end = x + (T - 1) * c.column_stride + (c.kernel_columns - 1) * c.column_dilation;
      if (x >= 0 && end < c.in_columns)
        window_tile<Kind, T, true>(row, column);
      else
        window_tile<Kind, T, false>(row, column);
    }
  };
  take.template operator()<Kind::kMost>();
  if constexpr (Kind::kMost > 7) take.template operator()<7>();
  if constexpr (Kind::kMost > 4) take.template operator()<4>();
  take.template operator()<2>();
  take.template operator()<1>();
}

void depthwise_windows(const ChannelWindow& conv, const float* image, const float* packed, const float* bias,
                       int64_t row, int64_t first, int64_t count, float low, float high, float* y) {
  const auto [begin, end] = conv.tap_rows(row);
  const int64_t line = row * conv.row_stride - conv.top + begin * conv.row_dilation;
  const WindowRow work{conv, begin, end - begin, image + line * conv.row, packed, bias, first, count, low,
                       high, y};
  const auto run = [&]<typename Kind>() {
    if (!Kind::fits(conv)) return false;
    windows_of_row<Kind>(work);
    return true;
  };
  const bool is_done =
      run.template operator()<DenseWindows<3, 1>>() || run.template operator()<DenseWindows<3, 2>>() ||
      run.template operator()<DenseWindows<5, 1>>() || run.template operator()<DenseWindows<5, 2>>() ||
      run.template operator()<DenseWindows<7, 1>>();
  if (!is_done) windows_of_row<AnyWindows>(work);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(depthwise_windows);

namespace {

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

}  // namespace

void depthwise_row(const ChannelWindow& conv, const float* image, const float* packed, const float* bias,
                   int64_t row, int64_t first, int64_t count, const FinishRows& finish, float* y) noexcept {
  const bool clips = finish.function == FinishFunction::kClip;
  HWY_DYNAMIC_DISPATCH(depthwise_windows)
  (conv, image, packed, bias, row, first, count, clips ? finish.a : -kUnbounded,
   clips ? finish.b : kUnbounded, y);
  finish_windows(conv, first, count, finish, y);
}

}  // namespace assay::kernels
#endif
