#include "kernels/channel_window/image_conv.h"

#include <algorithm>

#include "kernels/channel_window/window_epilogue.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/channel_window/image_conv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/channel_window/channel_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// Pixels of a tile of one and of two vectors: their sums, the weights of a tap and one number of the image
/// fit in the registers (32 of the widest vectors, 16 of others), and common extents are multiples of them.
inline constexpr int64_t kPixelsOfOne = kWindowLanes == 16 ? 14 : 7,
                         kPixelsOfTwo = kWindowLanes == 16 ? 12 : 6;

/// A row of results, of which the image's rows lie in lines.
struct ImageRow {
  const ImageConv& conv;
  const float* lines;
  const float* packed;
  const float* bias;
  float low, high;
  float* y;
};

/// Where the numbers of a vector of channels lie.
HWY_INLINE int64_t place_of(int64_t vector, int64_t block) {
  const int64_t channel = vector * kWindowLanes;
  return channel / kChannelBlock * block + channel % kChannelBlock;
}

/// T pixels of V vectors of channels. `kStride`: of the columns; 0: whatever it is.
template <int64_t T, int64_t V, int64_t kStride>
HWY_NOINLINE void pixels_of(const ImageRow& r, int64_t vector, int64_t column) {
  const ChannelWindow& c = r.conv.window;
  const WF f;
  const int64_t stride = kStride == 0 ? c.column_stride : kStride, line = r.conv.line();
  const float* w[V];
  VW acc[T][V];
  ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) {
    w[v] = r.packed + place_of(vector + v, kChannelBlock * r.conv.taps());
    const VW start = r.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, r.bias + (vector + v) * kWindowLanes);
    ASSAY_UNROLL
    for (int64_t t = 0; t < T; ++t) acc[t][v] = start;
  }
  const float* x = r.lines + column * stride;
  for (int64_t k = r.conv.planes * c.kernel_rows; k > 0; --k, x += line) {
    const float* pixel = x;
    for (int64_t j = c.kernel_columns; j > 0; --j, pixel += c.column_dilation) {
      VW taps[V];
      ASSAY_UNROLL
      for (int64_t v = 0; v < V; ++v) {
        taps[v] = hn::LoadU(f, w[v]);
        w[v] += kChannelBlock;
      }
      ASSAY_UNROLL
      for (int64_t t = 0; t < T; ++t) {
        const VW number = hn::Set(f, pixel[t * stride]);
        ASSAY_UNROLL
        for (int64_t v = 0; v < V; ++v) acc[t][v] = hn::MulAdd(number, taps[v], acc[t][v]);
      }
    }
  }
  const VW low = hn::Set(f, r.low), high = hn::Set(f, r.high);
  ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) {
    const int64_t lanes = c.fills_blocks ? kWindowLanes : c.channels - (vector + v) * kWindowLanes;
    float* const to = r.y + place_of(vector + v, c.out_block) + column * c.out_pixel;
    ASSAY_UNROLL
    for (int64_t t = 0; t < T; ++t) {
      const VW result = bounded(acc[t][v], low, high);
      if (lanes >= kWindowLanes)
        store_channels<true>(result, to + t * c.out_pixel, lanes);
      else
        store_channels<false>(result, to + t * c.out_pixel, lanes);
    }
  }
}

template <int64_t V, int64_t kStride>
void columns_of(const ImageRow& r, int64_t vector) {
  int64_t column = 0;
  const auto take = [&]<int64_t T>() {
    for (; column + T <= r.conv.window.out_columns; column += T) pixels_of<T, V, kStride>(r, vector, column);
  };
  take.template operator()<V == 1 ? kPixelsOfOne : kPixelsOfTwo>();
  take.template operator()<4>();
  take.template operator()<2>();
  take.template operator()<1>();
}

template <int64_t kStride>
void vectors_of(const ImageRow& r) {
  const ChannelWindow& c = r.conv.window;
  const int64_t channels = c.fills_blocks ? c.blocks() * kChannelBlock : c.channels,
                vectors = (channels + kWindowLanes - 1) / kWindowLanes;
  int64_t v = 0;
  for (; v + 2 <= vectors; v += 2) columns_of<2, kStride>(r, v);
  if (v < vectors) columns_of<1, kStride>(r, v);
}

void image_windows(const ImageConv& conv, const float* lines, const float* packed, const float* bias,
                   float low, float high, float* y) {
  const ImageRow row{conv, lines, packed, bias, low, high, y};
  if (conv.window.column_stride == 1)
    vectors_of<1>(row);
  else if (conv.window.column_stride == 2)
    vectors_of<2>(row);
  else
    vectors_of<0>(row);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(image_windows);

namespace {

/// The rows of the image that row `row` of the results sees, plane by plane, with zeros around them.
void fill_lines(const ImageConv& conv, const float* image, int64_t row, float* lines) {
  const ChannelWindow& c = conv.window;
  const int64_t line = conv.line(), before = std::clamp<int64_t>(c.left, 0, line),
                count = std::clamp<int64_t>(c.in_columns, 0, line - before);
  for (int64_t p = 0; p < conv.planes; ++p)
    for (int64_t k = 0; k < c.kernel_rows; ++k, lines += line) {
      const int64_t at = row * c.row_stride - c.top + k * c.row_dilation;
      if (at < 0 || at >= c.in_rows) {
        std::fill_n(lines, line, 0.0F);
        continue;
      }
      std::fill_n(lines, before, 0.0F);
      std::copy_n(image + p * c.block + at * c.row, count, lines + before);
      std::fill_n(lines + before + count, line - before - count, 0.0F);
    }
}

}  // namespace

void image_conv_row(const ImageConv& conv, const float* image, const float* packed, const float* bias,
                    int64_t row, const EpilogueParameters& finish, const EpilogueOperands& operands,
                    float* scratch, float* y) noexcept {
  const WindowBounds bounds = window_bounds(finish, operands);
  fill_lines(conv, image, row, scratch);
  HWY_DYNAMIC_DISPATCH(image_windows)(conv, scratch, packed, bias, bounds.low, bounds.high, y);
  window_epilogue(conv.window, 0, conv.window.blocks(), finish, operands, y);
}

}  // namespace assay::kernels
#endif
