// The epilogue after the sums of a row of windows.
#pragma once

#include <cstdint>

#include "kernels/channel_window/channel_window.h"
#include "kernels/panel/row_epilogue.h"

namespace assay::kernels {

/// The bounds that a kernel keeps by itself.
struct WindowBounds {
  float low, high;
};
WindowBounds window_bounds(const EpilogueParameters& finish, const EpilogueOperands& operands) noexcept;

/// For blocks [first, first + count) of a row of results at y, within window_bounds():
/// applies the rest of the epilogue, and writes zeros into the last block's padding. Operands begin as y
/// does, those of columns with channel 0.
void window_epilogue(const ChannelWindow& window, int64_t first, int64_t count,
                     const EpilogueParameters& finish, const EpilogueOperands& operands, float* y) noexcept;

}  // namespace assay::kernels
