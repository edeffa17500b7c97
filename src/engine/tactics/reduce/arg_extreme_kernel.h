// Steps of the tactic arg_extreme: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/axis_kernel.h"
#include "kernels/axis/extreme.h"

namespace assay::engine::tactic_arg_extreme {

struct StepFields {
  AxisField axis;
  kernels::ExtremeRule rule;

  void fields(FieldVisitor& visit) {
    axis.fields(visit);
    visit("largest", rule.largest);
    visit("last", rule.last);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_arg_extreme
