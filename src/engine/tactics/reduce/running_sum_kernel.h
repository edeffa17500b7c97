// Steps of the tactic running_sum: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/axis_kernel.h"
#include "kernels/axis/running.h"

namespace assay::engine::tactic_running_sum {

struct StepFields {
  AxisField axis;
  kernels::RunningRule rule;

  void fields(FieldVisitor& visit) {
    axis.fields(visit);
    visit("product", rule.product);
    visit("exclusive", rule.exclusive);
    visit("reverse", rule.reverse);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_running_sum
