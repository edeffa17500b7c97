// Images that convolutions of 8-bit integers read.
#pragma once

#include <cstdint>

#include "kernels/conv.h"

namespace assay::kernels {

/// Taps of a window over channels on their own: so many products of 255 * 255 float32 adds up exactly.
inline constexpr int64_t kMaxInt8Taps = (int64_t{1} << 24) / (255 * 255);

/// Images of 8-bit integers, channels innermost, and the window that slides over them. `window` must outlive
/// it.
struct Int8Images {
  const Window* window;
  int64_t channels;
  int64_t groups;  ///< of channels, each of which a part of the result is computed from
  bool is_signed;
  int zero_point;  ///< the value of padding

  /// Numbers that a position of a group's result is computed from: taps in row-major order, channels
  /// innermost.
  int64_t depth() const { return window->taps() * (channels / groups); }
};

}  // namespace assay::kernels
