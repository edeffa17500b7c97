#include "kernels/winograd/winograd.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/panel/panel_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/winograd/winograd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/winograd/transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The pixels of a tile; those outside the image are null.
template <int64_t kSide, typename Number>
struct TilePixels {
  const Number* at[kSide * kSide];
  bool all_inside;
};

template <class D>
HWY_INLINE hn::Vec<D> load_pixels(D f, const float* p) {
  return hn::LoadU(f, p);
}
/// Of bfloat16.
template <class D>
HWY_INLINE hn::Vec<D> load_pixels(D f, const uint16_t* p) {
  const hn::RebindToUnsigned<D> u32;
  const hn::Rebind<uint16_t, D> u16;
  return hn::BitCast(f, hn::ShiftLeft<16>(hn::PromoteTo(u32, hn::LoadU(u16, p))));
}

template <int64_t M, typename Number>
TilePixels<M + 2, Number> pixels_of(const WinogradSize& size, const Number* x, int64_t tile) {
  constexpr int64_t kSide = M + 2;
  const WinogradSize::Corner corner = size.corner(tile);
  const ImagePlaces places = size.in_places();
  const Number* const image = x + places.of(corner.image * places.pixels, 0);
  const int64_t top = corner.y - size.pad_top, left = corner.x - size.pad_left;
  TilePixels<kSide, Number> pixels{{},
                                   top >= 0 && left >= 0 && top + (kSide - 1) * size.down < size.in_height &&
                                       left + (kSide - 1) * size.right < size.in_width};
  for (int64_t i = 0; i < kSide; ++i)
    for (int64_t j = 0; j < kSide; ++j) {
      const int64_t y = top + i * size.down, x_at = left + j * size.right;
      const bool inside = y >= 0 && y < size.in_height && x_at >= 0 && x_at < size.in_width;
      pixels.at[i * kSide + j] = inside ? image + (y * size.in_width + x_at) * places.block : nullptr;
    }
  return pixels;
}

/// Transforms one tile, row by row of its points; true where all numbers are finite. An infinity or NaN shows
/// in the first or last point of its row and column: between them these use every number of the tile.
template <class D, bool kInside, int64_t kSide, typename Number>
bool transform_tile(D f, const TilePixels<kSide, Number>& pixels, const ImagePlaces& places,
                    const WinogradChannels& channels, float* to, int64_t point_stride) {
  using V = hn::Vec<D>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  V special = hn::Zero(f);  // 0 times numbers
  const int64_t in_block = channels.first % places.block;
  for (int64_t k = 0, from = channels.first / places.block * places.block_distance() + in_block,
               left = places.block - in_block;
       k < channels.count; k += kLanes) {
    V columns[kSide][kSide];
    for (int64_t j = 0; j < kSide; ++j) {
      V d[kSide], transformed[kSide];
      ASSAY_UNROLL
      for (int64_t i = 0; i < kSide; ++i) {
        const Number* p = pixels.at[i * kSide + j];
        d[i] = kInside || p != nullptr ? load_pixels(f, p + from) : hn::Zero(f);
      }
      transform_input(d, transformed);
      ASSAY_UNROLL
      for (int64_t i = 0; i < kSide; ++i) columns[i][j] = transformed[i];
    }
    for (int64_t i = 0; i < kSide; ++i) {
      V transformed[kSide];
      transform_input(columns[i], transformed);
      if (i == 0 || i == kSide - 1)
        special = hn::MulAdd(hn::Add(transformed[0], transformed[kSide - 1]), hn::Zero(f), special);
      ASSAY_UNROLL
      for (int64_t j = 0; j < kSide; ++j)
        hn::StoreU(transformed[j], f, to + (i * kSide + j) * point_stride + k);
    }
    from += kLanes;
    left -= kLanes;
    if (left == 0) from += places.block_distance() - places.block, left = places.block;
  }
  return hn::AllTrue(f, hn::Eq(special, hn::Zero(f)));
}

template <int64_t M, class D, typename Number>
void input_tiles(D f, const WinogradSize& size, const Number* x, int64_t first, int64_t count,
                 const WinogradChannels& channels, WinogradMatrices to, uint8_t* has_special) {
  const ImagePlaces places = size.in_places();
  for (int64_t t = 0; t < count; ++t) {
    const auto pixels = pixels_of<M>(size, x, first + t);
    float* const row = to.data + t * to.row_stride;
    const bool finite = pixels.all_inside
                            ? transform_tile<D, true>(f, pixels, places, channels, row, to.point_stride)
                            : transform_tile<D, false>(f, pixels, places, channels, row, to.point_stride);
    has_special[t] = finite ? 0 : 1;
  }
}

template <int64_t M, class D>
void output_tile(D f, const float* sums, int64_t point_stride, int64_t columns, const float* bias, float* y,
                 int64_t row_stride, int64_t pixel_stride) {
  using V = hn::Vec<D>;
  constexpr int64_t kSide = M + 2;
  for (int64_t k = 0; k < columns; k += static_cast<int64_t>(hn::Lanes(f))) {
    V rows[M][kSide];
    for (int64_t j = 0; j < kSide; ++j) {
      V s[kSide], transformed[M];
      ASSAY_UNROLL
      for (int64_t i = 0; i < kSide; ++i) s[i] = hn::LoadU(f, sums + (i * kSide + j) * point_stride + k);
      transform_output(s, transformed);
      ASSAY_UNROLL
      for (int64_t i = 0; i < M; ++i) rows[i][j] = transformed[i];
    }
    const V b = bias == nullptr ? hn::Zero(f) : hn::LoadU(f, bias + k);
    for (int64_t i = 0; i < M; ++i) {
      V transformed[M];
      transform_output(rows[i], transformed);
      ASSAY_UNROLL
      for (int64_t j = 0; j < M; ++j)
        hn::StoreU(hn::Add(transformed[j], b), f, y + i * row_stride + j * pixel_stride + k);
    }
  }
}

/// Calls with the widest vectors of which `channels` has a whole number.
template <class Call>
void with_vectors(int64_t channels, const Call& call) {
  channels % kPanelColumns == 0 ? call(hn::CappedTag<float, kPanelColumns>())
                                : call(hn::CappedTag<float, kWinogradChannels>());
}

template <typename Number>
void input_tiles_in(const WinogradSize& size, const Number* x, int64_t first, int64_t count,
                    const WinogradChannels& channels, WinogradMatrices matrices, uint8_t* has_special) {
  with_vectors(std::gcd(std::gcd(size.in_places().block, channels.first), channels.count), [&](auto f) {
    size.m == 2 ? input_tiles<2>(f, size, x, first, count, channels, matrices, has_special)
                : input_tiles<4>(f, size, x, first, count, channels, matrices, has_special);
  });
}

void input_tiles_of(const WinogradSize& size, const void* x, int64_t first, int64_t count,
                    const WinogradChannels& channels, WinogradMatrices matrices, uint8_t* has_special) {
  if (size.is_narrow)
    return input_tiles_in(size, static_cast<const uint16_t*>(x), first, count, channels, matrices,
                          has_special);
  input_tiles_in(size, static_cast<const float*>(x), first, count, channels, matrices, has_special);
}

void output_tile_of(int64_t m, const float* sums, int64_t point_stride, int64_t columns, const float* bias,
                    float* y, int64_t row_stride, int64_t pixel_stride) {
  with_vectors(columns, [&](auto f) {
    m == 2 ? output_tile<2>(f, sums, point_stride, columns, bias, y, row_stride, pixel_stride)
           : output_tile<4>(f, sums, point_stride, columns, bias, y, row_stride, pixel_stride);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(input_tiles_of);
HWY_EXPORT(output_tile_of);

void convolve_plainly(const WinogradSize& size, const float* matrices, int64_t row_stride,
                      int64_t point_stride, int64_t count, const float* rows, int64_t number_of_rows,
                      const float* bias, float* sums, int64_t stride) noexcept {
  const int64_t side = size.m + 2, c = size.group_inputs();
  const TapSource* const taps = size.m == 2 ? kTaps2 : kTaps4;
  for (int64_t r = 0; r < number_of_rows; ++r)
    for (int64_t o = 0; o < count; ++o) sums[r * stride + o] = bias == nullptr ? 0 : bias[o];
  for (int64_t t = 0; t < 9; ++t) {
    const TapSource &y = taps[t / 3], &x = taps[t % 3];
    for (int64_t i = 0; i < c; ++i) {
      float weight[kWinogradOutputs] = {};
      for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
          const float factor = y.factors[a] * x.factors[b];
          if (factor == 0) continue;
          const float* from = matrices + (y.points[a] * side + x.points[b]) * point_stride + i * row_stride;
          for (int64_t o = 0; o < count; ++o) weight[o] += factor * from[o];
        }
      for (int64_t r = 0; r < number_of_rows; ++r) {
        const float value = rows[(r * 9 + t) * size.in_channels + i];
        for (int64_t o = 0; o < count; ++o) sums[r * stride + o] += value * weight[o];
      }
    }
  }
}

void transform_winograd_weights(const WinogradSize& size, const float* weights, int64_t first, int64_t count,
                                float* matrices, int64_t row_stride, int64_t point_stride) noexcept {
  const int64_t side = size.m + 2, c = size.group_inputs();
  const auto* const g = size.m == 2 ? kWeights2 : kWeights4;
  // Of many outputs at a time: their numbers stand side by side.
  double taps[9][kWinogradOutputs] = {}, half[6][3][kWinogradOutputs];
  for (int64_t i = 0; i < c; ++i) {
    for (int64_t o = 0; o < count; ++o)
      for (int64_t t = 0; t < 9; ++t) taps[t][o] = weights[((first + o) * c + i) * 9 + t];
    for (int64_t p = 0; p < side; ++p)  // G w
      for (int64_t t = 0; t < 3; ++t)
        for (int64_t o = 0; o < kWinogradOutputs; ++o)
          half[p][t][o] = g[p][0] * taps[t][o] + g[p][1] * taps[3 + t][o] + g[p][2] * taps[6 + t][o];
    for (int64_t p = 0; p < side; ++p)
      for (int64_t q = 0; q < side; ++q) {
        float row[kWinogradOutputs];
        for (int64_t o = 0; o < kWinogradOutputs; ++o)
          row[o] =
              static_cast<float>(half[p][0][o] * g[q][0] + half[p][1][o] * g[q][1] + half[p][2][o] * g[q][2]);
        std::copy_n(row, count, matrices + (p * side + q) * point_stride + i * row_stride);
      }
  }
}

void transform_winograd_inputs(const WinogradSize& size, const void* x, int64_t first, int64_t count,
                               WinogradChannels channels, WinogradMatrices matrices,
                               uint8_t* has_special) noexcept {
  HWY_DYNAMIC_DISPATCH(input_tiles_of)(size, x, first, count, channels, matrices, has_special);
}

void transform_winograd_outputs(int64_t m, const float* sums, int64_t point_stride, int64_t columns,
                                const float* bias, float* y, int64_t row_stride,
                                int64_t pixel_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(output_tile_of)(m, sums, point_stride, columns, bias, y, row_stride, pixel_stride);
}

}  // namespace assay::kernels
#endif
