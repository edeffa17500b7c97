// Convolution along one axis with stride 1 after Winograd: a line is cut into tiles of four results, the taps
// into groups of three, and six products over channels and groups replace the twelve of every group. With
// dilations, every n-th pixel belongs to a separate line.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/panel/panel_product.h"

namespace assay::kernels {

/// Images with channels last, as [images, in_length, inner, channels]; results as [images, out_length, inner,
/// outputs].
struct Winograd1d {
  int64_t images = 0, in_length = 0, out_length = 0, inner = 1, channels = 0, outputs = 0;
  int64_t taps = 0, dilation = 1, pad = 0;

  static constexpr int64_t kResults = 4, kPoints = 6, kGroup = 3;
  int64_t groups() const { return (taps + kGroup - 1) / kGroup; }
  /// Of the products: the channels of one group of taps after the other.
  int64_t depth() const { return groups() * channels; }
  /// One for each point.
  PanelMatrix matrix() const { return {outputs, depth()}; }
  int64_t tiles() const { return images * lines() * tiles_of_line() * inner; }
  /// Tiles that begin at adjacent positions, before the next ones on the same lines.
  int64_t beside() const { return lines() * inner; }
  /// Whether the results of tiles that begin at adjacent positions are all between them.
  bool leaves_no_gaps() const { return lines() == dilation; }
  /// Tiles on each line.
  int64_t tiles_of_line() const { return ((out_length + dilation - 1) / dilation + kResults - 1) / kResults; }
  /// The position of a tile's first result.
  struct Start {
    int64_t image, first, inner;
  };
  Start start(int64_t tile) const {
    const int64_t place = tile % beside(), number = tile / beside() % tiles_of_line();
    return {tile / beside() / tiles_of_line(), place / inner + number * kResults * dilation, place % inner};
  }
  /// Existing results of a tile.
  int64_t results(const Start& s) const {
    return std::clamp<int64_t>((out_length - s.first + dilation - 1) / dilation, 0, kResults);
  }
  /// The number of a result among all.
  int64_t result(const Start& s, int64_t i) const {
    return (s.image * out_length + s.first + i * dilation) * inner + s.inner;
  }
  /// The number of the pixel that a result reads at a tap; -1 outside.
  int64_t pixel(const Start& s, int64_t i, int64_t tap) const {
    const int64_t at = s.first + (i + tap) * dilation - pad;
    return at < 0 || at >= in_length ? -1 : (s.image * in_length + at) * inner + s.inner;
  }

 private:
  int64_t lines() const { return std::min(dilation, out_length); }
};

/// Packs weights [outputs, channels, taps] as kPoints matrices in panels, computed in double.
void pack_line_weights(const Winograd1d& line, const float* weights, float* packed);

/// Tiles [first, first + count) as kPoints matrices [count, depth()], rows `row_stride` apart with room for
/// kPanelColumns numbers after each. has_special[t]: 1 where a tile holds an infinity or NaN, or numbers too
/// large to be transformed, which would reach all of its results; else 0.
void transform_line_inputs(const Winograd1d& line, const float* x, int64_t first, int64_t count,
                           float* matrices, int64_t row_stride, int64_t point_stride,
                           uint8_t* has_special) noexcept;

/// The results of one tile, `columns` channels each, a multiple of kPanelColumns, from its rows of sums,
/// `point_stride` apart; result i goes to y + i * result_stride. `bias` may be null.
void transform_line_outputs(const float* sums, int64_t point_stride, int64_t columns, const float* bias,
                            float* y, int64_t result_stride) noexcept;

/// Result i of a tile by its definition, with the same weights: the columns of one panel, whose first is that
/// of `bias`. For the few tiles that hold infinities or NaN. `bias` may be null.
void convolve_line_plainly(const Winograd1d& line, const float* packed, int64_t panel, const float* x,
                           const Winograd1d::Start& start, int64_t i, const float* bias,
                           float* sums) noexcept;

}  // namespace assay::kernels
