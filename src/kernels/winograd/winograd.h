// Convolution by 3x3 windows with stride 1 after Winograd: an image is cut into tiles of M x M results, and
// each tile, its window of (M + 2) x (M + 2) numbers transformed, takes part in (M + 2)^2 matrix products
// over channels instead of 9 M^2 multiplications each. With dilations, every n-th row and column belong to a
// separate image, which the same window slides over.
//
// A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016; S. Winograd, Arithmetic
// Complexity of Computations, SIAM 1980.
#pragma once

#include <cstdint>

#include "kernels/image_rows.h"

namespace assay::kernels {

/// Images with channels last, or in blocks of them, whose channels are a multiple of kWinogradChannels.
struct WinogradSize {
  int64_t batch = 0;
  int64_t in_height = 0, in_width = 0, in_channels = 0;
  int64_t out_height = 0, out_width = 0, out_channels = 0;
  int64_t pad_top = 0, pad_left = 0;
  int64_t m = 0;                ///< results of a tile along an axis: 2 or 4
  int64_t down = 1, right = 1;  ///< dilations: from a result of a tile to the next one down, and to the right
  int64_t in_block = 0;         ///< adjacent input channels, a multiple of 8; 0: all
  int64_t groups = 1;           ///< of channels, input and output
  bool is_narrow = false;       ///< images are in bfloat16, with channels last

  int64_t points() const { return (m + 2) * (m + 2); }
  /// Channels that a result sums over, and results that sum over the same ones.
  int64_t group_inputs() const { return in_channels / groups; }
  int64_t group_outputs() const { return out_channels / groups; }
  ImagePlaces in_places() const {
    return {in_channels, in_height * in_width, in_block == 0 ? in_channels : in_block};
  }
  int64_t tiles() const { return batch * tiles_along(out_height, down) * tiles_along(out_width, right); }
  /// The position of a tile's first result.
  struct Corner {
    int64_t image, y, x;
  };
  Corner corner(int64_t tile) const {
    const int64_t across = tiles_along(out_width, right), high = tiles_along(out_height, down);
    return {tile / across / high, first_of(tile / across % high, out_height, down),
            first_of(tile % across, out_width, right)};
  }
  /// Results of a tile along an axis, whose first is at `first`.
  int64_t results_from(int64_t first, int64_t extent, int64_t step) const {
    const int64_t left = (extent - first + step - 1) / step;
    return left < m ? left : m;
  }

 private:
  /// Images along an axis, each with tiles for as many results as the first.
  static int64_t images_along(int64_t extent, int64_t step) { return extent < step ? extent : step; }
  int64_t tiles_of_image(int64_t extent, int64_t step) const {
    return ((extent + step - 1) / step + m - 1) / m;
  }
  int64_t tiles_along(int64_t extent, int64_t step) const {
    return images_along(extent, step) * tiles_of_image(extent, step);
  }
  int64_t first_of(int64_t number, int64_t extent, int64_t step) const {
    const int64_t tiles = tiles_of_image(extent, step);
    return number / tiles + number % tiles * m * step;
  }
};

inline constexpr int64_t kWinogradChannels = 8;
/// From this many input channels on, tiles of 4x4 results have no larger errors than are expected of a plain
/// sum (docs/internals/kernels.md).
inline constexpr int64_t kWinogradLargeTileChannels = 64;

/// Weights [outputs, group_inputs(), 3, 3] as points() matrices [inputs, outputs], computed in double: the
/// columns of the outputs [first, first + count). Input i of point p goes to matrices + p * point_stride + i
/// * row_stride. `count` is at most kWinogradOutputs.
void transform_winograd_weights(const WinogradSize& size, const float* weights, int64_t first, int64_t count,
                                float* matrices, int64_t row_stride, int64_t point_stride) noexcept;
inline constexpr int64_t kWinogradOutputs = 16;

/// The convolution by its definition, with the same weights: sums[r, o] = bias[o] + sum over taps and inputs
/// of rows[r, (tap * in_channels + i)] * weight, for outputs [0, count) of one group, whose first input
/// `rows` begins with, count at most kWinogradOutputs. The weights are as transform_winograd_weights() left
/// them. For the few tiles that hold infinities or NaN. `bias` may be null.
void convolve_plainly(const WinogradSize& size, const float* matrices, int64_t row_stride,
                      int64_t point_stride, int64_t count, const float* rows, int64_t number_of_rows,
                      const float* bias, float* sums, int64_t stride) noexcept;

/// points() matrices, a row for each tile.
struct WinogradMatrices {
  float* data;
  int64_t row_stride, point_stride;
};

/// Input channels, both numbers multiples of kWinogradChannels.
struct WinogradChannels {
  int64_t first, count;
};

/// Tiles [first, first + count), counted over all images, as points() matrices [count, channels.count].
/// has_special[t]: 1 where a tile holds an infinity or NaN, or numbers too large to be transformed, which
/// would reach all of its results; else 0.
void transform_winograd_inputs(const WinogradSize& size, const void* x, int64_t first, int64_t count,
                               WinogradChannels channels, WinogradMatrices matrices,
                               uint8_t* has_special) noexcept;

/// The m rows of m pixels of one tile, `columns` channels each, from points() matrices of sums: the tile's
/// row of each is at sums + point * point_stride. Pixel (i, j) goes to y + i * row_stride + j *
/// pixel_stride. `bias` may be null. `columns` is a multiple of kWinogradChannels.
void transform_winograd_outputs(int64_t m, const float* sums, int64_t point_stride, int64_t columns,
                                const float* bias, float* y, int64_t row_stride,
                                int64_t pixel_stride) noexcept;

}  // namespace assay::kernels
