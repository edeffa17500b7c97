#include "kernels/copy/channel_blocks.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/copy/copy_rows.h"

namespace assay::kernels {
namespace {

/// Pixels that are moved for all blocks before the next ones: what they take stays in the first-level cache.
constexpr int64_t kPixelsTogether = 16;
/// Numbers that a thread should move at least.
constexpr int64_t kMinMoved = 16384;

/// Calls body(image, block, pixel, pixels) for all of them, shared out among threads by pixels.
template <typename Body>
void for_pieces(const ChannelBlocks& s, Body body) {
  const int64_t blocks = (s.channels + s.block - 1) / s.block,
                pieces = (s.pixels + kPixelsTogether - 1) / kPixelsTogether;
  const int64_t grain =
      std::max<int64_t>(1, kMinMoved / (kPixelsTogether * std::max<int64_t>(s.channels, 1)));
  parallel_for(s.images * pieces, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t pixel = i % pieces * kPixelsTogether,
                    pixels = std::min(kPixelsTogether, s.pixels - pixel);
      for (int64_t b = 0; b < blocks; ++b) body(i / pieces, b, pixel, pixels);
    }
  });
}

int64_t blocked_place(const ChannelBlocks& s, int64_t image, int64_t block, int64_t pixel) {
  const int64_t blocks = (s.channels + s.block - 1) / s.block;
  return ((image * blocks + block) * s.pixels + pixel) * s.block;
}
int64_t last_place(const ChannelBlocks& s, int64_t image, int64_t block, int64_t pixel) {
  return (image * s.pixels + pixel) * s.channels + block * s.block;
}

}  // namespace

void into_blocks(const ChannelBlocks& size, const float* in, float* out) noexcept {
  for_pieces(size, [&](int64_t image, int64_t block, int64_t pixel, int64_t pixels) {
    const int64_t count = std::min(size.block, size.channels - block * size.block);
    float* const to = out + blocked_place(size, image, block, pixel);
    copy_rows(pixels, count, in + last_place(size, image, block, pixel), size.channels, to, size.block);
    for (int64_t p = 0; p < pixels && count < size.block; ++p)
      std::fill(to + p * size.block + count, to + (p + 1) * size.block, 0.0F);
  });
}

void out_of_blocks(const ChannelBlocks& size, const float* in, float* out) noexcept {
  for_pieces(size, [&](int64_t image, int64_t block, int64_t pixel, int64_t pixels) {
    copy_rows(pixels, std::min(size.block, size.channels - block * size.block),
              in + blocked_place(size, image, block, pixel), size.block,
              out + last_place(size, image, block, pixel), size.channels);
  });
}

}  // namespace assay::kernels
