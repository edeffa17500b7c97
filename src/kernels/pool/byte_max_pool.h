// MaxPool of 8-bit integers with channels last.
#pragma once

#include <cstdint>

#include "kernels/conv.h"

namespace assay::kernels {

/// Rows of pixels along the last axis that a window may have.
inline constexpr int64_t kMaxByteRows = 256;

/// y [positions, channels] = the largest number of each channel in the window of each of the positions
/// [first, first + count), counted over all images of x [images, in..., channels] in row-major order; `y` is
/// where the first of them goes. The lowest number where a window is empty. One to three axes, and at
/// most kMaxByteRows rows.
void byte_max_pool(const Window& window, bool is_signed, int64_t channels, int64_t first, int64_t count,
                   const void* x, void* y) noexcept;

}  // namespace assay::kernels
