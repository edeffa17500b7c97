// Steps of the tactic roi_align: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/sample/roi_align.h"

namespace assay::engine::tactic_roi_align {

struct StepFields {
  int64_t ratio = 0;
  double scale = 1;
  bool largest = false, half_pixel = false;

  void fields(FieldVisitor& visit) {
    visit("ratio", ratio, {0, kernels::kMaxRoiRatio});
    visit("scale", scale);
    visit("largest", largest);
    visit("half_pixel", half_pixel);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_roi_align
