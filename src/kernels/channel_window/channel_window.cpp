#include "kernels/channel_window/channel_window.h"

namespace assay::kernels {

void pack_channel_blocks(int64_t channels, int64_t taps, const float* weights, float* packed) {
  const int64_t blocks = (channels + kChannelBlock - 1) / kChannelBlock;
  std::fill_n(packed, blocks * kChannelBlock * taps, 0.0F);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t)
      packed[(c / kChannelBlock * taps + t) * kChannelBlock + c % kChannelBlock] = weights[c * taps + t];
}

}  // namespace assay::kernels
