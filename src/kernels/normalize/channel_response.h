// Local response normalisation: numbers divided by a power of what their neighbours along the channels are.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Channels and neighbours of a window that channel_response() knows at most.
inline constexpr int64_t kMaxResponseChannels = 4096, kMaxResponseSize = 256;

struct ChannelResponse {
  int64_t images = 0, channels = 0, pixels = 0;
  /// Channels that lie side by side; 1: each is a plane of its own. Others lie in blocks of so many, the last
  /// one filled up.
  int64_t block = 1;
  int64_t size = 1;                     ///< channels of a window, (size - 1) / 2 of them in front
  float alpha = 0, beta = 0, bias = 0;  ///< none below 0, beta above
};

/// y = x / (bias + alpha / size * sum of x^2)^beta, over the channels of each window that are there.
void channel_response(const ChannelResponse& n, const float* x, float* y) noexcept;

}  // namespace assay::kernels
