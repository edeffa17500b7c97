// Local response normalization: numbers divided by a power of their neighbours' squares.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// The most channels and neighbours of a window that channel_response() computes.
inline constexpr int64_t kMaxResponseChannels = 4096, kMaxResponseSize = 256;

struct ChannelResponse {
  int64_t images = 0, channels = 0, pixels = 0;
  /// Adjacent channels; 1: each is its own plane. Others
  /// are in blocks of this many, the last one padded.
  int64_t block = 1;
  int64_t size = 1;                     ///< channels of a window, (size - 1) / 2 of them in front
  float alpha = 0, beta = 0, bias = 0;  ///< none below 0, beta above
};

/// y = x / (bias + alpha / size * sum of x^2)^beta, over the existing channels of each window.
void channel_response(const ChannelResponse& n, const float* x, float* y) noexcept;

}  // namespace assay::kernels
