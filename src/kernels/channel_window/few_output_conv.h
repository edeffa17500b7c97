// Convolution to few channels: dot products along the channels of an image, where other kernels would compute
// a whole vector of channels. A network's last layer.
#pragma once

#include <cstdint>

#include "kernels/channel_window/channel_window.h"

namespace assay::kernels {

/// Channels of a result for which this is worth it.
inline constexpr int64_t kMaxFewOutputs = 8;

/// Channels are those of the image, with channels last or in blocks (`fills_blocks`: the last one's padding
/// is in memory, and 0). Results are row-major: a plane for each channel.
struct FewOutputConv {
  ChannelWindow window;
  int64_t outputs = 0;

  int64_t packed_floats() const { return outputs * window.packed_floats(); }
};

/// Packs weights [outputs, channels, taps].
void pack_few_output_conv(const FewOutputConv& conv, const float* weights, float* packed);

/// Row `row` of the results of an image, all channels: bias[output] + sum over channels and the taps inside
/// the image of w * pixel. `y` begins with the row of the first channel; planes are `plane` numbers apart.
/// `bias` may be null.
void few_output_conv_row(const FewOutputConv& conv, const float* image, const float* packed,
                         const float* bias, int64_t row, float* y, int64_t plane) noexcept;

}  // namespace assay::kernels
