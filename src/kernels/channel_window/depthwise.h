// ChannelWindow convolution: every channel of an image has a window of its own. Vectors of channels, on
// images with channels last and on those in blocks of channels.
#pragma once

#include <cstdint>

#include "kernels/channel_window/channel_window.h"
#include "kernels/panel/row_epilogue.h"

namespace assay::kernels {

/// Rows of windows that are best computed together.
inline constexpr int64_t kDepthwiseRows = 2;

/// Rows [row, row + rows) of the results for the blocks of channels [first, first + count):
/// finish(bias[channel] + sum over the taps inside the image of w[channel, tap] * pixel). `image` and `y`
/// begin with channel 0: the image with its first pixel, y with the first of the rows, as an addend does.
/// `bias`, which may be null, `packed` and the operands of columns are those of all channels.
void depthwise_rows(const ChannelWindow& conv, const float* image, const float* packed, const float* bias,
                    int64_t row, int64_t rows, int64_t first, int64_t count, const EpilogueParameters& finish,
                    const EpilogueOperands& operands, float* y) noexcept;

/// The same of an image in bfloat16.
void depthwise_rows(const ChannelWindow& conv, const uint16_t* image, const float* packed, const float* bias,
                    int64_t row, int64_t rows, int64_t first, int64_t count, const EpilogueParameters& finish,
                    const EpilogueOperands& operands, float* y) noexcept;

}  // namespace assay::kernels
