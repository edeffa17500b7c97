// Steps of the tactic normalize: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/normalize/normalize.h"

namespace assay::engine::tactic_normalize {

using kernels::Normalization;

/// Numbers of a row that is stored in bfloat16: it is widened on the stack.
inline constexpr int64_t kMostNarrowColumns = 4096;

struct StepFields {
  int64_t rows = 1, columns = 1;
  float epsilon = 0;
  bool subtract_mean = true;
  int64_t period = 0;  ///< of scales that are one for each row; 0: one for each column

  void fields(FieldVisitor& visit) {
    visit("rows", rows, kPositive);
    visit("columns", columns, kPositive);
    visit("epsilon", epsilon);
    visit("subtract_mean", subtract_mean);
    visit("per_row_period", period);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_normalize
