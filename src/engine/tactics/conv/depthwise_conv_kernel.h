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

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_depthwise_conv
