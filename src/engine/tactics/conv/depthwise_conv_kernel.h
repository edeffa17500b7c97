// Steps of the tactic depthwise_conv: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/channel_window_kernel.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "kernels/channel_window/depthwise.h"

namespace assay::engine::tactic_depthwise_conv {

using kernels::ChannelWindow;

/// Rows of results that are computed together, of the fewest channels that a thread takes, are rounded to
/// bfloat16 from a buffer: numbers of it.
inline constexpr int64_t kNarrowBuffer = 32 << 10;

/// Whether the buffer holds them.
inline bool fits_narrow_buffer(const ChannelWindow& w) {
  return kernels::kDepthwiseRows * w.out_columns * 4 * kernels::kChannelBlock <= kNarrowBuffer;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_depthwise_conv
