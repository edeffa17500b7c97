// Steps of the tactic deform_conv: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/window_kernel.h"
#include "kernels/grouped_gemm/grouped_gemm.h"
#include "kernels/sample/deform.h"

namespace assay::engine::tactic_deform_conv {

enum Input : size_t { kX, kW, kOffset, kBias, kMask };

struct StepFields {
  WindowFields window;
  int64_t channels = 1;  ///< of the image
  int64_t groups = 1, offset_groups = 1;

  void fields(FieldVisitor& visit) {
    window.fields(visit);
    visit("groups", groups, {1, std::max<int64_t>(channels, 1)});
    visit("offset_groups", offset_groups, {1, std::max<int64_t>(channels, 1)});
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_deform_conv
