// Steps of the tactic depthwise_conv1d: their parameters, and the kernel that runs them.
#pragma once

#include <cmath>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/epilogue_kernel.h"
#include "kernels/depthwise_conv1d/depthwise_conv1d.h"

namespace assay::engine::tactic_depthwise_conv1d {

using kernels::DepthwiseConv1d;

struct StepFields {
  DepthwiseConv1d conv;

  void fields(FieldVisitor& visit) {
    visit("sizes", {&conv.rows, &conv.channels, &conv.in, &conv.out, &conv.taps, &conv.dilation, &conv.begin},
          {0, kMaxOfWindow});
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_depthwise_conv1d
