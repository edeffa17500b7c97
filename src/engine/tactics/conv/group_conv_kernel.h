// Steps of the tactic group_conv: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/epilogue_kernel.h"
#include "kernels/grouped_gemm/grouped_gemm.h"

namespace assay::engine::tactic_group_conv {

struct StepFields {
  kernels::GroupedGemm size;

  void fields(FieldVisitor& visit) {
    visit("batch", size.batch, kPositive);
    visit("groups", size.groups, kPositive);
    visit("m", size.m, kPositive);
    visit("n", size.n, kPositive);
    visit("k", size.k, kPositive);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_group_conv
