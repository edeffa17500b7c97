// Steps of the tactic blocked_transpose: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/copy/strided_copy.h"

namespace assay::engine::tactic_blocked_transpose {

struct StepFields {
  size_t rank = 0;
  std::vector<int64_t> perm;

  void fields(FieldVisitor& visit) { visit("perm", perm, rank, {0, static_cast<int64_t>(rank) - 1}); }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_blocked_transpose
