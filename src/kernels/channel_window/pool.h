// Pooling of images with channels last, or in blocks of channels: vectors of channels.
#pragma once

#include <cstdint>

#include "kernels/channel_window/channel_window.h"

namespace assay::kernels {

enum class PoolKind : uint8_t {
  kMax,
  kAverage,          ///< of the taps inside the image
  kAverageWithPads,  ///< of all taps
};

/// Row `row` of the results for the blocks of channels [first, first + count), of windows that overlap the
/// image. `image` begins with its first pixel, y with the row's, both with channel 0. The maximum of
/// numbers with a NaN among them is NaN. Sums are those of rows of taps: their errors grow with both extents
/// of a window, not with their product.
void pool_row(const ChannelWindow& window, PoolKind kind, const float* image, int64_t row, int64_t first,
              int64_t count, float* y) noexcept;

}  // namespace assay::kernels
