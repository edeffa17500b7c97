// Images with channels last from and to images in blocks of channels.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Float32 images of `channels` channels and `pixels` pixels. Channels that pad the last block of `block`
/// become 0.
struct ChannelBlocks {
  int64_t images, channels, pixels, block;
};

/// [images, pixels, channels] to [images, ceil(channels / block), pixels, block].
void into_blocks(const ChannelBlocks& size, const float* in, float* out) noexcept;
/// The way back.
void out_of_blocks(const ChannelBlocks& size, const float* in, float* out) noexcept;

}  // namespace assay::kernels
