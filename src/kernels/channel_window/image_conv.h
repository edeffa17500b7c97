// Convolution of row-major images of few channels to vectors of channels: a network's first
// layer.
#pragma once

#include <cstdint>

#include "kernels/channel_window/channel_window.h"
#include "kernels/panel/row_epilogue.h"

namespace assay::kernels {

/// Channels are those of the result; of the image `pixel` is 1, `row` its columns and `block` a plane.
struct ImageConv {
  ChannelWindow window;
  int64_t planes = 0;  ///< channels of the image

  int64_t taps() const { return planes * window.taps(); }
  int64_t packed_floats() const { return window.blocks() * kChannelBlock * taps(); }
  /// Elements of a row of the image with its padding.
  int64_t line() const {
    return (window.out_columns - 1) * window.column_stride +
           (window.kernel_columns - 1) * window.column_dilation + 1;
  }
  int64_t scratch_floats() const { return planes * window.kernel_rows * line(); }
};

/// Row `row` of the results, all channels: finish(bias[channel] + sum over planes and taps of w * pixel).
/// `y` and an addend begin with the row; `bias`, which may be null, is padded.
void image_conv_row(const ImageConv& conv, const float* image, const float* packed, const float* bias,
                    int64_t row, const EpilogueParameters& finish, const EpilogueOperands& operands,
                    float* scratch, float* y) noexcept;

}  // namespace assay::kernels
