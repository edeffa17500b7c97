#include "kernels/channel_window/finish_windows.h"

namespace assay::kernels {

void finish_windows(const ChannelWindow& c, int64_t first, int64_t count, const FinishRows& finish,
                    float* y) noexcept {
  const int64_t end = std::min((first + count) * kChannelBlock, c.channels);
  if (finish.function != FinishFunction::kClip) {
    if (c.fills_blocks) {
      for (int64_t b = first; b < first + count; ++b)
        finish_rows(finish, 1, c.out_columns * kChannelBlock, y + b * c.out_block, 0, nullptr, 0,
                    y + b * c.out_block, 0);
    } else {
      float* const from = y + first * kChannelBlock;
      finish_rows(finish, c.out_columns, end - first * kChannelBlock, from, c.out_pixel, nullptr, 0, from,
                  c.out_pixel);
    }
  }
  if (!c.fills_blocks || end == (first + count) * kChannelBlock) return;
  float* const last = y + (first + count - 1) * c.out_block;
  for (int64_t x = 0; x < c.out_columns; ++x)
    std::fill(last + x * c.out_pixel + end % kChannelBlock, last + x * c.out_pixel + kChannelBlock, 0.0F);
}

}  // namespace assay::kernels
