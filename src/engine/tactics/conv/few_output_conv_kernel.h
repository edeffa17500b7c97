// Steps of the tactic few_output_conv: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/channel_window_kernel.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "kernels/channel_window/few_output_conv.h"

namespace assay::engine::tactic_few_output_conv {

using kernels::FewOutputConv;

inline FewOutputConv few_output_conv(const ConvProduct& conv, Layout layout) {
  return {channel_window(conv.window, conv.in_channels, layout), conv.size.n};
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_few_output_conv
