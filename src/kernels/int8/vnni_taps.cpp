#include <cstring>

#include "kernels/int8/vnni_depthwise.h"

namespace assay::kernels {
namespace {

/// The channel of a block that lies at a place: vector by vector, as unpacking leaves them in each quarter.
constexpr int64_t channel_at(int64_t vector, int64_t place) {
  return place / 4 * 16 + vector * 4 + place % 4;
}

}  // namespace

void pack_vnni_taps(const int16_t* numbers, int64_t taps, int64_t channels, VnniTaps order,
                    int8_t* packed) noexcept {
  std::memset(packed, 0, static_cast<size_t>(vnni_taps_bytes(taps, channels)));
  const bool by_columns = order == VnniTaps::kColumns;
  const int64_t groups = (taps + 3) / 4, members = by_columns ? 3 : 4;
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t block = 0; block < channels; block += kVnniChannels, packed += 4 * kVnniChannels)
      for (int64_t i = 0; i < kVnniChannels; ++i) {
        const int64_t c = block + channel_at(i / 16, i % 16);
        for (int64_t j = 0; c < channels && j < members; ++j) {
          const int64_t tap = by_columns ? j * groups + g : 4 * g + j;
          if (tap < taps) packed[i * 4 + j] = static_cast<int8_t>(numbers[tap * channels + c]);
        }
      }
}

}  // namespace assay::kernels
