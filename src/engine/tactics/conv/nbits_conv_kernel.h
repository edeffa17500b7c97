// Steps of the tactic nbits_conv: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/memory_block.h"
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

/// Panels that become bfloat16 at a time, all rows of them.
inline constexpr int64_t kNarrowPanels = 2;

/// Those of panels of floats, with memory behind the gathered rows for what becomes bfloat16.
inline ProductTiles tiles_of(const ProductSize& size, bool gathered, bool rounds, int threads) {
  ProductTiles t = panel_tiles(size, gathered, rounds, threads);
  if (rounds)
    t.left_bytes += static_cast<int64_t>(
        align_up(static_cast<size_t>(narrow_length(size.k) * kNarrowPanels * kernels::kPanelColumns * 2)));
  return t;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_nbits_conv
