// Steps of the tactic nbits_conv: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "kernels/nbits/nbits_panels.h"

namespace assay::engine::tactic_nbits_conv {

struct StepFields {
  int bits = 4;
  kernels::NbitsGrid grid;

  void fields(FieldVisitor& visit) {
    visit("bits", bits, {2, 8});
    visit("part", grid.part, kPositive);
    visit("part_rows", grid.rows, kPositive);
    visit("part_columns", grid.columns, kPositive);
    visit("same_parts", grid.is_same_in_parts);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_nbits_conv
