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

/// As panel_tiles(). Products of bfloat16 are so fast that weights have to serve more rows; behind the
/// gathered ones is memory for what becomes bfloat16.
inline ProductTiles tiles_of(const ProductSize& size, bool gathered, bool rounds, int threads) {
  if (!rounds) return panel_tiles(size, gathered, false, threads);
  constexpr int64_t kMostRows = 768, kSumBytes = 192 << 10;
  const int64_t row_bytes = narrow_length(size.k) * 2;
  ProductTiles t =
      product_tiles(size, row_bytes, std::clamp(kPanelLeftBytes / row_bytes, kMinPanelRows, kMostRows),
                    threads, 1, kSumBytes, 1);
  t.left_bytes +=
      static_cast<int64_t>(align_up(static_cast<size_t>(row_bytes * kNarrowPanels * kernels::kPanelColumns)));
  return t;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_nbits_conv
