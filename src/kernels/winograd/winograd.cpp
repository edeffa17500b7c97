#include "kernels/winograd/winograd.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/winograd/winograd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, kWinogradChannels>;
using V = hn::Vec<F>;
inline constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(F()));

HWY_INLINE V times(float a, V x) { return hn::Mul(hn::Set(F(), a), x); }
HWY_INLINE V plus_times(V y, float a, V x) { return hn::MulAdd(hn::Set(F(), a), x, y); }

/// t = B^T d
HWY_INLINE void transform_input(const V (&d)[4], V (&t)[4]) {
  t[0] = hn::Sub(d[0], d[2]);
  t[1] = hn::Add(d[1], d[2]);
  t[2] = hn::Sub(d[2], d[1]);
  t[3] = hn::Sub(d[1], d[3]);
}
HWY_INLINE void transform_input(const V (&d)[6], V (&t)[6]) {
  const V a = plus_times(d[4], -4, d[2]), b = plus_times(d[3], -4, d[1]);
  const V c = hn::Sub(d[4], d[2]), e = times(2, hn::Sub(d[3], d[1]));
  t[0] = plus_times(plus_times(d[4], -5, d[2]), 4, d[0]);
  t[1] = hn::Add(a, b);
  t[2] = hn::Sub(a, b);
  t[3] = hn::Add(c, e);
  t[4] = hn::Sub(c, e);
  t[5] = plus_times(plus_times(d[5], -5, d[3]), 4, d[1]);
}

/// y = A^T s
HWY_INLINE void transform_output(const V (&s)[4], V (&y)[2]) {
  y[0] = hn::Add(s[0], hn::Add(s[1], s[2]));
  y[1] = hn::Sub(hn::Sub(s[1], s[2]), s[3]);
}
HWY_INLINE void transform_output(const V (&s)[6], V (&y)[4]) {
  const V a = hn::Add(s[1], s[2]), b = hn::Sub(s[1], s[2]);
  const V c = hn::Add(s[3], s[4]), d = hn::Sub(s[3], s[4]);
  y[0] = hn::Add(s[0], hn::Add(a, c));
  y[1] = plus_times(b, 2, d);
  y[2] = plus_times(a, 4, c);
  y[3] = hn::Add(plus_times(b, 8, d), s[5]);
}

template <int64_t M>
void input_tiles(const WinogradSize& size, const float* x, int64_t first, int64_t count, float* matrices,
                 uint8_t* has_special) {
  constexpr int64_t kSide = M + 2;
  const F f;
  const int64_t c = size.in_channels, point_stride = count * c;
  for (int64_t t = 0; t < count; ++t) {
    const int64_t column = (first + t) % size.tile_columns(),
                  row = (first + t) / size.tile_columns() % size.tile_rows(),
                  image = (first + t) / size.tile_columns() / size.tile_rows();
    const int64_t top = row * M - size.pad_top, left = column * M - size.pad_left;
    const float* pixels[kSide * kSide];  // null: padding
    for (int64_t i = 0; i < kSide; ++i)
      for (int64_t j = 0; j < kSide; ++j) {
        const bool inside =
            top + i >= 0 && top + i < size.in_height && left + j >= 0 && left + j < size.in_width;
        pixels[i * kSide + j] =
            inside ? x + ((image * size.in_height + top + i) * size.in_width + left + j) * c : nullptr;
      }
    float* const to = matrices + t * c;
    V special = hn::Zero(f);  // 0 times all numbers
    for (int64_t k = 0; k < c; k += kLanes) {
      V columns[kSide][kSide];
      for (int64_t j = 0; j < kSide; ++j) {
        V d[kSide], transformed[kSide];
        ASSAY_UNROLL
        for (int64_t i = 0; i < kSide; ++i) {
          const float* p = pixels[i * kSide + j];
          d[i] = p == nullptr ? hn::Zero(f) : hn::LoadU(f, p + k);
          special = hn::MulAdd(d[i], hn::Zero(f), special);
        }
        transform_input(d, transformed);
        ASSAY_UNROLL
        for (int64_t i = 0; i < kSide; ++i) columns[i][j] = transformed[i];
      }
      for (int64_t i = 0; i < kSide; ++i) {
        V transformed[kSide];
        transform_input(columns[i], transformed);
        ASSAY_UNROLL
        for (int64_t j = 0; j < kSide; ++j)
          hn::StoreU(transformed[j], f, to + (i * kSide + j) * point_stride + k);
      }
    }
    has_special[t] = hn::AllTrue(f, hn::Eq(special, hn::Zero(f))) ? 0 : 1;
  }
}

template <int64_t M>
void output_tile(const float* sums, int64_t point_stride, int64_t columns, const float* bias, float* y,
                 int64_t pixel_stride) {
  constexpr int64_t kSide = M + 2;
  const F f;
  for (int64_t k = 0; k < columns; k += kLanes) {
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
        hn::StoreU(hn::Add(transformed[j], b), f, y + (i * M + j) * pixel_stride + k);
    }
  }
}

void input_tiles_of(const WinogradSize& size, const float* x, int64_t first, int64_t count, float* matrices,
                    uint8_t* has_special) {
  size.m == 2 ? input_tiles<2>(size, x, first, count, matrices, has_special)
              : input_tiles<4>(size, x, first, count, matrices, has_special);
}

void output_tile_of(int64_t m, const float* sums, int64_t point_stride, int64_t columns, const float* bias,
                    float* y, int64_t pixel_stride) {
  m == 2 ? output_tile<2>(sums, point_stride, columns, bias, y, pixel_stride)
         : output_tile<4>(sums, point_stride, columns, bias, y, pixel_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(input_tiles_of);
HWY_EXPORT(output_tile_of);

namespace {

/// G of the transform: rows of points, columns of taps.
constexpr double kWeights2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kWeights4[6][3] = {{1.0 / 4, 0, 0},
                                    {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                    {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                    {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                    {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                    {0, 0, 1}};

/// Weights from transformed ones along an axis: each tap is the difference of two points, or a multiple of
/// one.
struct TapSource {
  int64_t points[2];
  float factors[2];
};
constexpr TapSource kTaps2[3] = {{{0, 0}, {1, 0}}, {{1, 2}, {1, -1}}, {{3, 3}, {1, 0}}};
constexpr TapSource kTaps4[3] = {{{0, 0}, {4, 0}}, {{2, 1}, {3, -3}}, {{5, 5}, {1, 0}}};

}  // namespace

void convolve_plainly(const WinogradSize& size, const float* matrices, int64_t row_stride,
                      int64_t point_stride, int64_t count, const float* rows, int64_t number_of_rows,
                      const float* bias, float* sums, int64_t stride) noexcept {
  const int64_t side = size.m + 2, c = size.in_channels;
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
        const float value = rows[r * 9 * c + t * c + i];
        for (int64_t o = 0; o < count; ++o) sums[r * stride + o] += value * weight[o];
      }
    }
  }
}

void transform_winograd_weights(const WinogradSize& size, const float* weights, int64_t first, int64_t count,
                                float* matrices, int64_t row_stride, int64_t point_stride) noexcept {
  const int64_t side = size.m + 2, c = size.in_channels;
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

void transform_winograd_inputs(const WinogradSize& size, const float* x, int64_t first, int64_t count,
                               float* matrices, uint8_t* has_special) noexcept {
  HWY_DYNAMIC_DISPATCH(input_tiles_of)(size, x, first, count, matrices, has_special);
}

void transform_winograd_outputs(int64_t m, const float* sums, int64_t point_stride, int64_t columns,
                                const float* bias, float* y, int64_t pixel_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(output_tile_of)(m, sums, point_stride, columns, bias, y, pixel_stride);
}

}  // namespace assay::kernels
#endif
