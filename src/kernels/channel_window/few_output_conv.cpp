#include "kernels/channel_window/few_output_conv.h"

#include <algorithm>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/channel_window/few_output_conv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/channel_window/channel_window-inl.h"

#ifndef ASSAY_KERNELS_DOT_CONV_TOGETHER_
#define ASSAY_KERNELS_DOT_CONV_TOGETHER_
namespace assay::kernels {

/// Outputs whose sums are computed together.
inline constexpr int64_t kDotsTogether = 4;

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// Pixels of a tile for N outputs: their sums, the weights of a tap and one vector of a pixel fit in the
/// registers (32 of the widest vectors, 16 of others).
template <int64_t N>
inline constexpr int64_t kDotPixels = kWindowLanes == 16 ? (N == 1   ? 16
                                                            : N == 2 ? 12
                                                            : N == 3 ? 8
                                                                     : 6)
                                                         : (N == 1   ? 8
                                                            : N == 2 ? 6
                                                            : N == 3 ? 4
                                                                     : 2);

/// A row of the results of some outputs.
struct DotRow {
  const ChannelWindow& c;
  const float* lines;  ///< the row of the image that the first tap would see, which may lie outside
  int64_t first_tap_row, end_tap_row;
  const float* packed;
  const float* bias;
  float* y;
  int64_t plane;
};

/// P results from column `column` on for N outputs.
template <int64_t P, int64_t N, bool kInside>
HWY_NOINLINE void dot_tile(const DotRow& r, int64_t column) {
  const WF f;
  const ChannelWindow& c = r.c;
  const int64_t first = column * c.column_stride - c.left, step = c.column_stride * c.pixel,
                blocks = c.blocks(), left = c.fills_blocks ? 0 : c.channels % kChannelBlock,
                whole = left == 0 ? blocks : blocks - 1;
  VW acc[P][N];
  ASSAY_UNROLL
  for (int64_t p = 0; p < P; ++p) ASSAY_UNROLL
  for (int64_t n = 0; n < N; ++n) acc[p][n] = hn::Zero(f);
  for (int64_t k = r.first_tap_row; k < r.end_tap_row; ++k)
    for (int64_t j = 0; j < c.kernel_columns; ++j) {
      const int64_t at = first + j * c.column_dilation;
      const float* pixel = r.lines + k * c.row_dilation * c.row + at * c.pixel;
      const float* w = r.packed + (k * c.kernel_columns + j) * blocks * N * kChannelBlock;
      const auto add = [&](const auto& load) HWY_ATTR ASSAY_INLINED {
        for (int64_t v = 0; v < kChannelBlock; v += kWindowLanes) {
          VW taps[N];
          ASSAY_UNROLL
          for (int64_t n = 0; n < N; ++n) taps[n] = hn::LoadU(f, w + n * kChannelBlock + v);
          ASSAY_UNROLL
          for (int64_t p = 0; p < P; ++p) {
            if constexpr (!kInside)
              if (at + p * c.column_stride < 0 || at + p * c.column_stride >= c.in_columns) continue;
            const VW x = load(pixel + p * step + v, v);
            ASSAY_UNROLL
            for (int64_t n = 0; n < N; ++n) acc[p][n] = hn::MulAdd(x, taps[n], acc[p][n]);
          }
        }
        w += N * kChannelBlock;
        pixel += c.block;
      };
      for (int64_t b = 0; b < whole; ++b)
        add([&](const float* from, int64_t) HWY_ATTR ASSAY_INLINED { return hn::LoadU(f, from); });
      if (left > 0)
        add([&](const float* from, int64_t v) HWY_ATTR ASSAY_INLINED {
          return load_first(f, from, static_cast<size_t>(std::clamp<int64_t>(left - v, 0, kWindowLanes)));
        });
    }
  ASSAY_UNROLL
  for (int64_t n = 0; n < N; ++n) {
    const float start = r.bias == nullptr ? 0 : r.bias[n];
    float* const y = r.y + n * r.plane + column;
    ASSAY_UNROLL
    for (int64_t p = 0; p < P; ++p) y[p] = start + hn::GetLane(hn::SumOfLanes(f, acc[p][n]));
  }
}

template <int64_t N>
void dots_of_row(const DotRow& r) {
  const ChannelWindow& c = r.c;
  int64_t column = 0;
  const auto take = [&]<int64_t P>() {
    for (; column + P <= c.out_columns; column += P) {
      const int64_t first = column * c.column_stride - c.left,
                    end = first + (P - 1) * c.column_stride + (c.kernel_columns - 1) * c.column_dilation;
      if (first >= 0 && end < c.in_columns)
        dot_tile<P, N, true>(r, column);
      else
        dot_tile<P, N, false>(r, column);
    }
  };
  constexpr int64_t kMax = kDotPixels<N>;
  take.template operator()<kMax>();
  if constexpr (kMax > 4) take.template operator()<4>();
  take.template operator()<1>();
}

void dot_row(const FewOutputConv& conv, const float* image, const float* packed, const float* bias,
             int64_t row, float* y, int64_t plane) {
  const ChannelWindow& c = conv.window;
  const auto [first, end] = c.tap_rows(row);
  DotRow r{c, image + (row * c.row_stride - c.top) * c.row, first, end, packed, bias, y, plane};
  for (int64_t o = 0; o < conv.outputs; o += kDotsTogether) {
    const int64_t count = std::min(kDotsTogether, conv.outputs - o);
    r.packed = packed + o * c.packed_floats();
    r.bias = bias == nullptr ? nullptr : bias + o;
    r.y = y + o * plane;
    switch (count) {
      case 1:
        dots_of_row<1>(r);
        break;
      case 2:
        dots_of_row<2>(r);
        break;
      case 3:
        dots_of_row<3>(r);
        break;
      default:
        dots_of_row<kDotsTogether>(r);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(dot_row);

void pack_few_output_conv(const FewOutputConv& conv, const float* weights, float* packed) {
  const ChannelWindow& c = conv.window;
  std::fill_n(packed, conv.packed_floats(), 0.0F);
  for (int64_t o = 0; o < conv.outputs; ++o) {
    const int64_t first = o / kDotsTogether * kDotsTogether,
                  count = std::min(kDotsTogether, conv.outputs - first);
    float* const part = packed + first * c.packed_floats() + (o - first) * kChannelBlock;
    for (int64_t i = 0; i < c.channels; ++i)
      for (int64_t t = 0; t < c.taps(); ++t)
        part[(t * c.blocks() + i / kChannelBlock) * count * kChannelBlock + i % kChannelBlock] =
            weights[(o * c.channels + i) * c.taps() + t];
  }
}

void few_output_conv_row(const FewOutputConv& conv, const float* image, const float* packed,
                         const float* bias, int64_t row, float* y, int64_t plane) noexcept {
  HWY_DYNAMIC_DISPATCH(dot_row)(conv, image, packed, bias, row, y, plane);
}

}  // namespace assay::kernels
#endif
