// Convolution as an integer product: the rows of its left operand, gathered from an image with channels last.
#pragma once

#include <cstdint>

#include "kernels/conv.h"

namespace assay::kernels {

/// Images of 8-bit integers, channels innermost, and the window that slides over them. `window` must outlive
/// it.
struct Int8Images {
  const Window* window;
  int64_t channels;
  bool is_signed;
  int zero_point;  ///< what padding reads

  /// Numbers that a position of the result is computed from: taps in row-major order, channels innermost.
  int64_t depth() const { return window->taps() * channels; }
};

/// Writes the rows of the positions [first, first + count), counted over all images in row-major order, less
/// the zero point: int8_row_length(depth()) numbers each, zero beyond the depth.
void gather_int8_rows(const Int8Images& images, const void* x, int64_t first, int64_t count,
                      int16_t* rows) noexcept;

/// sums[p, c] = sum over the taps of x[p + tap, c] * weights[tap, c] for the positions [first, first +
/// count): every channel on its own. The weights are whole numbers less their zero points. Exact for up to
/// 258 taps.
void depthwise_int8(const Int8Images& images, const void* x, const float* weights, int64_t first,
                    int64_t count, int32_t* sums) noexcept;

}  // namespace assay::kernels
