// What follows the sums of a row of windows.
#pragma once

#include <cstdint>

#include "kernels/channel_window/channel_window.h"
#include "kernels/panel/finish_rows.h"

namespace assay::kernels {

/// Of a row of results at y whose blocks [first, first + count) are there, and within its bounds where the
/// function is kClip: the function, and zeros for what fills up the last block.
void finish_windows(const ChannelWindow& window, int64_t first, int64_t count, const FinishRows& finish,
                    float* y) noexcept;

}  // namespace assay::kernels
