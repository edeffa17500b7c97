// Steps of the tactic fold_columns: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/window_kernel.h"
#include "kernels/pool/fold_columns.h"
#include "kernels/pool/window_rows.h"

namespace assay::engine::tactic_fold_columns {

struct StepFields {
  WindowFields window;
  std::vector<int64_t> blocks;

  void fields(FieldVisitor& visit) {
    window.fields(visit);
    visit("blocks", blocks, window.axes, {1, kMaxOfWindow});
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_fold_columns
