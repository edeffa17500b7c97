// Convolution as an integer product: the rows of its left operand, gathered from an image with channels last.
#pragma once

#include <cstdint>

#include "kernels/int8/int8_images.h"
#include "kernels/int8/requantize.h"

namespace assay::kernels {

/// Writes the rows of the positions [first, first + count), counted over all images in row-major order, as
/// Int8Rows wants them: for each group int8_row_length(depth()) quantized values.
void gather_int8_rows(const Int8Images& images, const void* x, int64_t first, int64_t count,
                      uint8_t* rows) noexcept;

/// Depthwise weights, taps first: as float32 numbers, and as groups of four 8-bit numbers where they fit.
struct DepthwiseWeights {
  int64_t taps = 0, channels = 0;
  int64_t columns = 0;   ///< taps along the last axis
  int64_t dilation = 1;  ///< along it

  static DepthwiseWeights of(const Window& window, int64_t channels) {
    return {window.taps(), channels, window.kernel[window.rank() - 1], window.dilations[window.rank() - 1]};
  }

  /// Bytes that they need packed.
  int64_t bytes() const;
};

/// Packs numbers [taps, channels], less their zero points.
void pack_int8_depthwise(const DepthwiseWeights& weights, const int16_t* numbers, void* packed) noexcept;

/// sums[p, c] = sum over the taps of (x[p + tap, c] - zero point) * weights[tap, c] for the positions [first,
/// first + count): every channel on its own. At most kMaxInt8Taps taps, which are the window's.
void int8_depthwise(const Int8Images& images, const void* x, const void* packed, int64_t first, int64_t count,
                    int32_t* sums) noexcept;

/// requantize() of int8_depthwise(). `sums` is scratch memory for that, of `sum_rows` positions at a time.
void int8_depthwise_quantized(const Int8Images& images, const void* x, const void* packed, int64_t first,
                              int64_t count, int32_t* sums, int64_t sum_rows,
                              const QuantizedEpilogue& end) noexcept;

}  // namespace assay::kernels
