// Steps of the tactic triangle: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/copy/triangle.h"

namespace assay::engine::tactic_triangle {

struct StepFields {
  int64_t k = 0;
  bool upper = true;

  void fields(FieldVisitor& visit) {
    visit("k", k, kUnbounded);
    visit("upper", upper);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_triangle
