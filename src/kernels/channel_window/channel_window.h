// Windows of which every channel of an image has its own, and the layouts of images for them: channels
// last, or in blocks of channels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace assay::kernels {

/// Channels of a block of weights, and of a blocked image.
inline constexpr int64_t kChannelBlock = 16;

/// A window of two axes over images, and their layout in memory: distances in elements. Padding is not in
/// memory.
struct ChannelWindow {
  int64_t kernel_rows = 1, kernel_columns = 1;
  int64_t row_stride = 1, column_stride = 1;
  int64_t row_dilation = 1, column_dilation = 1;
  int64_t top = 0, left = 0;  ///< padding
  int64_t in_rows = 0, in_columns = 0, out_columns = 0;
  int64_t channels = 0;
  int64_t pixel = 0, row = 0, block = 0;  ///< from one pixel, row, block of channels of the image to the next
  int64_t out_pixel = 0, out_block = 0;   ///< the same of the result
  bool fills_blocks = false;  ///< the padding of the result's last block is in memory, and becomes 0

  int64_t taps() const { return kernel_rows * kernel_columns; }
  int64_t blocks() const { return (channels + kChannelBlock - 1) / kChannelBlock; }
  /// Rows of taps [first, second) that are inside the image for row `y` of the results; none: both are equal.
  std::pair<int64_t, int64_t> tap_rows(int64_t y) const {
    return inside(y * row_stride - top, row_dilation, kernel_rows, in_rows);
  }
  /// The same along a row.
  std::pair<int64_t, int64_t> tap_columns(int64_t x) const {
    return inside(x * column_stride - left, column_dilation, kernel_columns, in_columns);
  }
  /// Elements of the packed weights, and of a padded bias.
  int64_t packed_floats() const { return blocks() * kChannelBlock * taps(); }
  int64_t bias_floats() const { return blocks() * kChannelBlock; }

 private:
  static std::pair<int64_t, int64_t> inside(int64_t at, int64_t step, int64_t taps, int64_t extent) {
    if (at >= 0 && at + (taps - 1) * step < extent) return {0, taps};  // without a division
    const int64_t first = at >= 0 ? 0 : std::min((-at + step - 1) / step, taps);
    return {first, at >= extent ? first : std::clamp((extent - at + step - 1) / step, first, taps)};
  }
};

/// Packs weights [channels, taps] in blocks of channels: for every tap those of the block, 0 after the last.
void pack_channel_blocks(int64_t channels, int64_t taps, const float* weights, float* packed);

}  // namespace assay::kernels
