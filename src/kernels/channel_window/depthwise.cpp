#include "kernels/channel_window/depthwise.h"

#include <algorithm>

#include "kernels/channel_window/window_epilogue.h"
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
inline constexpr int64_t kMaxResults = kWindowLanes == 16 ? 14 : 7;

/// Whether the registers hold the sums of two rows of windows, and a row of taps for each.
inline constexpr bool kPairsFit = kWindowLanes == 16;

/// Vectors of channels of a row of windows, or of two, and the taps that lie inside the image, whose numbers
/// are float or, in bfloat16, uint16_t.
template <typename Number>
struct WindowRow {
  const ChannelWindow& conv;
  int64_t first_tap_row, tap_rows;  ///< of two rows: of the first one's, and as if it had one more
  const Number* image;              ///< first row of the image that counts, channel 0
  const float* packed;
  const float* bias;
  int64_t first, count;  ///< blocks
  float low, high;
  float* y;
};

/// One vector of a tile.
template <typename Number>
struct WindowLanes {
  const Number* pixels;  ///< that of the first result's first tap, which may lie outside
  const float* weights;
  const float* bias;
  float* y;
  int64_t lanes;  ///< that count
};

template <bool kWhole>
HWY_INLINE VW load_channels(const uint16_t* p, int64_t lanes) {
  const hn::RebindToUnsigned<WF> u32;
  const hn::Rebind<uint16_t, WF> u16;
  uint16_t some[kWindowLanes] = {};
  if constexpr (!kWhole) {
    std::copy_n(p, lanes, some);
    p = some;
  }
  return hn::BitCast(WF(), hn::ShiftLeft<16>(hn::PromoteTo(u32, hn::LoadU(u16, p))));
}

template <bool kWhole>
HWY_INLINE VW load_channels(const float* p, int64_t lanes) {
  if constexpr (kWhole)
    return hn::LoadU(WF(), p);
  else
    return load_first(WF(), p, static_cast<size_t>(lanes));
}

template <bool kWhole, int64_t T, typename Number>
HWY_INLINE void store_results(const WindowRow<Number>& row, const WindowLanes<Number>& l, VW (&acc)[T],
                              float* y) {
  const WF f;
  const VW low = hn::Set(f, row.low), high = hn::Set(f, row.high);
  const int64_t pixel = row.conv.out_pixel;
  ASSAY_UNROLL
  for (int64_t t = 0; t < T; ++t, y += pixel) store_channels<kWhole>(bounded(acc[t], low, high), y, l.lanes);
}

template <int64_t T, typename Number>
HWY_INLINE void start_sums(const WindowLanes<Number>& l, VW (&acc)[T]) {
  const VW start = l.bias == nullptr ? hn::Zero(WF()) : hn::LoadU(WF(), l.bias);
  ASSAY_UNROLL
  for (int64_t t = 0; t < T; ++t) acc[t] = start;
}

/// Pixels [first, last) of a tile's lie inside the image.
struct PixelsInside {
  int64_t first, last;
};

/// Windows with kColumns taps in a row: a pixel is loaded once for all results that see it.
template <int64_t kColumns, int64_t kStride>
struct DenseWindows {
  static constexpr int64_t kMax = kStride == 2 ? kMaxResults / 2 : kColumns == 3 ? kMaxResults : 7;
  static bool fits(const ChannelWindow& c) {
    // Only the first and the last pixels that a tile sees may lie outside.
    const int64_t right = (c.out_columns - 1) * kStride - c.left + kColumns - c.in_columns;
    return c.kernel_columns == kColumns && c.column_stride == kStride && c.column_dilation == 1 &&
           c.left < kColumns && right < kColumns;
  }

  template <int64_t T>
  static constexpr int64_t kPixels = (T - 1) * kStride + kColumns;

  static HWY_INLINE void load_taps(const float* w, VW (&taps)[kColumns]) {
    ASSAY_UNROLL
    for (int64_t j = 0; j < kColumns; ++j) taps[j] = hn::LoadU(WF(), w + j * kChannelBlock);
  }
  template <int64_t T>
  static HWY_INLINE void add_pixel(int64_t i, VW v, const VW (&taps)[kColumns], VW (&acc)[T]) {
    ASSAY_UNROLL
    for (int64_t t = 0; t < T; ++t)
      if (i >= t * kStride && i < t * kStride + kColumns)
        acc[t] = hn::MulAdd(v, taps[i - t * kStride], acc[t]);
  }
  /// Calls body(i, pixel) for the pixels of a line of the image.
  template <int64_t T, bool kInside, bool kWhole, typename Number, typename Body>
  static HWY_INLINE void for_pixels(const Number* line, int64_t pixel, const WindowLanes<Number>& l,
                                    const PixelsInside& inside, const Body& body) {
    ASSAY_UNROLL
    for (int64_t i = 0; i < kPixels<T>; ++i, line += pixel) {
      if constexpr (!kInside)
        if ((i < kColumns - 1 && i < inside.first) || (i > kPixels<T> - kColumns && i >= inside.last))
          continue;
      body(i, load_channels<kWhole>(line, l.lanes));
    }
  }

  template <int64_t T, bool kInside, bool kWhole, typename Number>
  static HWY_INLINE void tile(const WindowRow<Number>& row, const WindowLanes<Number>& l, int64_t x) {
    const PixelsInside inside{-x, row.conv.in_columns - x};
    const int64_t pixel = row.conv.pixel, next = row.conv.row_dilation * row.conv.row;
    VW acc[T];
    start_sums(l, acc);
    const Number* line = l.pixels;
    const float* w = l.weights;
    for (int64_t k = row.tap_rows; k > 0; --k, w += kColumns * kChannelBlock, line += next) {
      VW taps[kColumns];
      load_taps(w, taps);
      for_pixels<T, kInside, kWhole>(line, pixel, l, inside,
                                     [&](int64_t i, VW v) HWY_ATTR { add_pixel(i, v, taps, acc); });
    }
    store_results<kWhole, T>(row, l, acc, l.y);
  }
};

/// Two rows of dense windows, one line of the image below the other: what both see is loaded once. With
/// channels last the lines come from the second-level cache for each row of windows.
template <int64_t kColumns>
struct DensePairs {
  using Dense = DenseWindows<kColumns, 1>;
  static constexpr int64_t kMax = 7;
  static bool fits(const ChannelWindow& c) {
    return kPairsFit && Dense::fits(c) && c.row_stride == 1 && c.row_dilation == 1;
  }

  template <int64_t T, bool kInside, bool kWhole, typename Number>
  static HWY_INLINE void tile(const WindowRow<Number>& row, const WindowLanes<Number>& l, int64_t x) {
    constexpr int64_t kTaps = kColumns * kChannelBlock;
    const ChannelWindow& c = row.conv;
    const PixelsInside inside{-x, c.in_columns - x};
    const int64_t pixel = c.pixel, next = c.row;
    VW upper[T], lower[T];
    start_sums(l, upper);
    start_sums(l, lower);
    const Number* line = l.pixels;
    const float* w = l.weights;
    const auto add_line = [&](const float* taps_at, VW(&acc)[T]) HWY_ATTR {
      VW taps[kColumns];
      Dense::load_taps(taps_at, taps);
      Dense::template for_pixels<T, kInside, kWhole>(
          line, pixel, l, inside, [&](int64_t i, VW v) HWY_ATTR { Dense::add_pixel(i, v, taps, acc); });
      line += next;
    };
    int64_t k = row.first_tap_row;
    const int64_t end = k + row.tap_rows, both = std::min(end, c.kernel_rows);
    if (k == 0) {
      add_line(w, upper);
      k = 1, w += kTaps;
    }
    for (; k < both; ++k, w += kTaps, line += next) {
      VW taps[kColumns], taps_before[kColumns];
      Dense::load_taps(w, taps);
      Dense::load_taps(w - kTaps, taps_before);
      Dense::template for_pixels<T, kInside, kWhole>(line, pixel, l, inside, [&](int64_t i, VW v) HWY_ATTR {
        Dense::add_pixel(i, v, taps, upper);
        Dense::add_pixel(i, v, taps_before, lower);
      });
    }
    if (end > c.kernel_rows) add_line(w - kTaps, lower);
    store_results<kWhole, T>(row, l, upper, l.y);
    store_results<kWhole, T>(row, l, lower, l.y + c.out_columns * c.out_pixel);
  }
};

/// Any window.
struct AnyWindows {
  static constexpr int64_t kMax = 7;
  static bool fits(const ChannelWindow&) { return true; }

  template <int64_t T, bool kInside, bool kWhole, typename Number>
  static HWY_INLINE void tile(const WindowRow<Number>& row, const WindowLanes<Number>& l, int64_t x) {
    const ChannelWindow& c = row.conv;
    VW acc[T];
    start_sums(l, acc);
    const float* w = l.weights;
    for (int64_t k = 0; k < row.tap_rows; ++k) {
      for (int64_t j = 0; j < c.kernel_columns; ++j, w += kChannelBlock) {
        const VW tap = hn::LoadU(WF(), w);
        const Number* const line = l.pixels + k * c.row_dilation * c.row;
        ASSAY_UNROLL
        for (int64_t t = 0; t < T; ++t) {
          const int64_t at = j * c.column_dilation + t * c.column_stride;
          if (!kInside && (x + at < 0 || x + at >= c.in_columns)) continue;
          acc[t] = hn::MulAdd(load_channels<kWhole>(line + at * c.pixel, l.lanes), tap, acc[t]);
        }
      }
    }
    store_results<kWhole, T>(row, l, acc, l.y);
  }
};

/// T results from column `column` on, for all vectors.
template <typename Kind, int64_t T, bool kInside, typename Number>
HWY_NOINLINE void window_tile(const WindowRow<Number>& row, int64_t column) {
  const ChannelWindow& c = row.conv;
  const int64_t x = column * c.column_stride - c.left, taps = c.taps(),
                before = row.first_tap_row * c.kernel_columns * kChannelBlock;
  for (int64_t b = row.first; b < row.first + row.count; ++b)
    for (int64_t v = 0; v < kChannelBlock; v += kWindowLanes) {
      const int64_t channel = b * kChannelBlock + v,
                    lanes = c.fills_blocks ? kWindowLanes : c.channels - channel;
      if (lanes <= 0) return;
      const WindowLanes<Number> l{row.image + b * c.block + v + x * c.pixel,
                                  row.packed + b * kChannelBlock * taps + before + v,
                                  row.bias == nullptr ? nullptr : row.bias + channel,
                                  row.y + b * c.out_block + v + column * c.out_pixel, lanes};
      if (lanes >= kWindowLanes)
        Kind::template tile<T, kInside, true>(row, l, x);
      else
        Kind::template tile<T, kInside, false>(row, l, x);
    }
}

template <typename Kind, typename Number>
void windows_of_row(const WindowRow<Number>& row) {
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
  take.template operator()<Kind::kMax>();
  if constexpr (Kind::kMax > 7) take.template operator()<7>();
  if constexpr (Kind::kMax > 4) take.template operator()<4>();
  take.template operator()<2>();
  take.template operator()<1>();
}

/// Does the work with the first of the kinds that takes such windows; false where none does.
template <typename... Kinds, typename Number>
bool run_first(const WindowRow<Number>& work) {
  const auto run = [&]<typename Kind>() {
    if (!Kind::fits(work.conv)) return false;
    windows_of_row<Kind>(work);
    return true;
  };
  return (run.template operator()<Kinds>() || ...);
}

template <typename Number>
void windows(const ChannelWindow& conv, const Number* image, const float* packed, const float* bias,
             int64_t row, int64_t rows, int64_t first, int64_t count, float low, float high, float* y) {
  const auto first_line = [&](int64_t r, int64_t tap_row) {
    return image + (r * conv.row_stride - conv.top + tap_row * conv.row_dilation) * conv.row;
  };
  for (const int64_t last = row + rows; row < last; ++row, y += conv.out_columns * conv.out_pixel) {
    if (row + 1 < last) {
      const int64_t top = row - conv.top, begin = std::max<int64_t>(0, -top),
                    end = std::min(conv.kernel_rows + 1, conv.in_rows - top);
      const WindowRow<Number> pair{
          conv, begin, end - begin, first_line(row, begin), packed, bias, first, count, low, high, y};
      if (end > begin && run_first<DensePairs<3>, DensePairs<5>, DensePairs<7>>(pair)) {
        ++row, y += conv.out_columns * conv.out_pixel;
        continue;
      }
    }
    const auto [begin, end] = conv.tap_rows(row);
    const WindowRow<Number> work{
        conv, begin, end - begin, first_line(row, begin), packed, bias, first, count, low, high, y};
    run_first<DenseWindows<3, 1>, DenseWindows<3, 2>, DenseWindows<5, 1>, DenseWindows<5, 2>,
              DenseWindows<7, 1>, AnyWindows>(work);
  }
}

void depthwise_windows(const ChannelWindow& conv, const float* image, const float* packed, const float* bias,
                       int64_t row, int64_t rows, int64_t first, int64_t count, float low, float high,
                       float* y) {
  windows(conv, image, packed, bias, row, rows, first, count, low, high, y);
}

void narrow_windows(const ChannelWindow& conv, const uint16_t* image, const float* packed, const float* bias,
                    int64_t row, int64_t rows, int64_t first, int64_t count, float low, float high,
                    float* y) {
  windows(conv, image, packed, bias, row, rows, first, count, low, high, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(depthwise_windows);
HWY_EXPORT(narrow_windows);

namespace {

void finish_rows(const ChannelWindow& conv, int64_t rows, int64_t first, int64_t count,
                 const EpilogueParameters& finish, EpilogueOperands operands, float* y) {
  const int64_t next = conv.out_columns * conv.out_pixel;
  for (int64_t r = 0; r < rows; ++r) {
    window_epilogue(conv, first, count, finish, operands, y + r * next);
    if (operands.addend != nullptr) operands.addend += next;
  }
}

}  // namespace

void depthwise_rows(const ChannelWindow& conv, const float* image, const float* packed, const float* bias,
                    int64_t row, int64_t rows, int64_t first, int64_t count, const EpilogueParameters& finish,
                    const EpilogueOperands& operands, float* y) noexcept {
  const WindowBounds bounds = window_bounds(finish, operands);
  HWY_DYNAMIC_DISPATCH(depthwise_windows)
  (conv, image, packed, bias, row, rows, first, count, bounds.low, bounds.high, y);
  finish_rows(conv, rows, first, count, finish, operands, y);
}

void depthwise_rows(const ChannelWindow& conv, const uint16_t* image, const float* packed, const float* bias,
                    int64_t row, int64_t rows, int64_t first, int64_t count, const EpilogueParameters& finish,
                    const EpilogueOperands& operands, float* y) noexcept {
  const WindowBounds bounds = window_bounds(finish, operands);
  HWY_DYNAMIC_DISPATCH(narrow_windows)
  (conv, image, packed, bias, row, rows, first, count, bounds.low, bounds.high, y);
  finish_rows(conv, rows, first, count, finish, operands, y);
}

}  // namespace assay::kernels
#endif
