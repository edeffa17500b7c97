// Steps of the tactic gather: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/index_kernel.h"
#include "kernels/copy/gather.h"

namespace assay::engine::tactic_gather {

inline constexpr int64_t kMaxAxes = 64;

struct StepFields {
  int64_t axis = 0;
  int64_t outer = 0, extent = 0, count = 0, row_bytes = 0;

  void fields(FieldVisitor& visit) {
    visit("axis", axis, {0, kMaxAxes});
    visit("outer", outer);
    visit("extent", extent);
    visit("count", count);
    visit("row_bytes", row_bytes);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_gather
