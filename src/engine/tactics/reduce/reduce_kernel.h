// Steps of the tactic reduce: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/reduce/reduce.h"

namespace assay::engine::tactic_reduce {

using kernels::Reduction;

struct StepFields {
  Reduction kind = Reduction::kSum;
  int64_t outer = 1, count = 1, inner = 1;

  void fields(FieldVisitor& visit) {
    visit("kind", kind, Reduction::kL2);
    visit("outer", outer, kPositive);
    visit("count", count, kPositive);
    visit("inner", inner, kPositive);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_reduce
