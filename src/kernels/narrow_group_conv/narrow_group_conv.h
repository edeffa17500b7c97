// Convolution in groups of a few channels, on images with channels last: every lane of a vector is an output
// channel and takes its inputs from the channels of its own group.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Output channels of a block of weights.
inline constexpr int64_t kNarrowGroupBlock = 16;

/// Channels and taps of the groups.
struct NarrowGroupConv {
  int64_t groups, inputs, outputs, taps;  ///< the last three of one group

  int64_t in_channels() const { return groups * inputs; }
  int64_t out_channels() const { return groups * outputs; }
  /// Whole groups are next to each other in a block, and their inputs in as many channels; else a group has
  /// its own blocks.
  bool shares_blocks() const {
    return outputs < kNarrowGroupBlock && kNarrowGroupBlock % outputs == 0 && inputs <= outputs;
  }
  /// Blocks of this many output channels from a whole group on, any number or a multiple of unit().
  int64_t blocks(int64_t channels) const {
    return shares_blocks() ? ceil(channels) : channels / outputs * ceil(outputs);
  }
  /// Output channels that can be computed separately: whole groups and whole blocks.
  int64_t unit() const { return shares_blocks() ? kNarrowGroupBlock : outputs; }
  int64_t block_floats() const { return taps * inputs * kNarrowGroupBlock; }
  int64_t packed_floats() const { return blocks(out_channels()) * block_floats(); }

 private:
  static int64_t ceil(int64_t channels) { return (channels + kNarrowGroupBlock - 1) / kNarrowGroupBlock; }
};

/// Packs weights [out_channels, inputs, taps].
void pack_narrow_group_weights(const NarrowGroupConv& conv, const float* weights, float* packed);

/// Elements that a bias has in memory: those after the last channel's are read and not used.
inline int64_t narrow_group_bias_floats(const NarrowGroupConv& conv) {
  return conv.out_channels() + kNarrowGroupBlock;
}

/// Rows as pixels of lines of the result, where windows are three taps wide without strides or dilations
/// along them: of the three pixels that a row sees in a line of taps, the next row sees two.
struct NarrowGroupLines {
  int64_t length = 0;  ///< pixels of a line; 0: windows have another form
  int64_t place = 0;   ///< of the first row in its line
};

/// sums[r, o] = bias[o] + sum over the taps t and inputs i of o's group of w[o, i, t] * pixels[t * rows +
/// r][i] for the output channels [first, first + count); `first` is a multiple of unit(), and so is `count`,
/// unless it ends with the last channel. pixels: where the channels of the pixel are that row r reads at tap
/// t, all of them readable. sums: `stride` from row to row, begin with channel `first`. `bias` may be null;
/// it begins with that of channel 0. The taps are whole lines of three where `lines` has a length.
void narrow_group_products(const NarrowGroupConv& conv, const float* packed, const float* const* pixels,
                           int64_t rows, int64_t first, int64_t count, const float* bias, float* sums,
                           int64_t stride, NarrowGroupLines lines = {}) noexcept;

}  // namespace assay::kernels
