#include "kernels/channel_window/window_epilogue.h"

#include <algorithm>
#include <limits>

namespace assay::kernels {
namespace {

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

/// Nothing is added before the bounds.
bool bounds_first(const EpilogueParameters& finish, const EpilogueOperands& operands) {
  return finish.function == PointwiseOp::kClip && (operands.addend == nullptr || finish.adds_last);
}

}  // namespace

WindowBounds window_bounds(const EpilogueParameters& finish, const EpilogueOperands& operands) noexcept {
  return bounds_first(finish, operands) ? WindowBounds{finish.a, finish.b}
                                        : WindowBounds{-kUnbounded, kUnbounded};
}

void window_epilogue(const ChannelWindow& c, int64_t first, int64_t count, const EpilogueParameters& finish,
                     const EpilogueOperands& operands, float* y) noexcept {
  const int64_t channel = first * kChannelBlock, end = std::min((first + count) * kChannelBlock, c.channels);
  EpilogueParameters rest = finish;
  const bool are_bounded = bounds_first(finish, operands);
  if (are_bounded) rest.a = -kUnbounded, rest.b = kUnbounded;
  // Channels [from, to), which begin at that element of y.
  const auto channel_epilogue = [&](int64_t from, int64_t to, int64_t at) {
    EpilogueOperands those = operands;
    if (those.addend != nullptr) those.addend += at;
    if (those.factors != nullptr) those.factors += from;
    if (those.shifts != nullptr) those.shifts += from;
    if (to - from == c.out_pixel && !are_scaled(rest, those))  // all in one piece
      return row_epilogue(rest, 1, c.out_columns * c.out_pixel, y + at, 0, those, y + at, 0);
    row_epilogue(rest, c.out_columns, to - from, y + at, c.out_pixel, those, y + at, c.out_pixel);
  };
  if (!are_bounded || operands.addend != nullptr || are_scaled(finish, operands)) {
    if (!c.fills_blocks) {
      channel_epilogue(channel, end, channel);
    } else {
      for (int64_t b = first; b < first + count; ++b)
        channel_epilogue(b * kChannelBlock, std::min((b + 1) * kChannelBlock, end), b * c.out_block);
    }
  }
  if (!c.fills_blocks || end == (first + count) * kChannelBlock) return;
  float* const last = y + (first + count - 1) * c.out_block;
  for (int64_t x = 0; x < c.out_columns; ++x)
    std::fill(last + x * c.out_pixel + end % kChannelBlock, last + x * c.out_pixel + kChannelBlock, 0.0F);
}

}  // namespace assay::kernels
