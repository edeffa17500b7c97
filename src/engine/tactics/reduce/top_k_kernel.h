// Steps of the tactic top_k: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/axis_kernel.h"
#include "kernels/axis/top_k.h"

namespace assay::engine::tactic_top_k {

struct StepFields {
  AxisField axis;
  bool largest = true;

  void fields(FieldVisitor& visit) {
    axis.fields(visit);
    visit("largest", largest);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_top_k
