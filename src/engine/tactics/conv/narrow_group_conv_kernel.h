// Steps of the tactic narrow_group_conv: their parameters, and the kernel that runs them.
#pragma once

#include <numeric>

#include "engine/runtime/arena.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "engine/tactics/product/tiled_product_kernel.h"
#include "kernels/image_rows.h"
#include "kernels/narrow_group_conv/narrow_group_conv.h"

namespace assay::engine::tactic_narrow_group_conv {

using kernels::NarrowGroupConv;

/// Rows of a tile, and the bytes of its sums: both stay in the first-level caches with the weights.
inline constexpr int64_t kMaxRows = 48, kSumBytes = 32 << 10;

inline NarrowGroupConv lanes_of(const ConvProduct& conv) {
  return {.groups = conv.groups,
          .inputs = conv.in_channels / conv.groups,
          .outputs = conv.size.n / conv.groups,
          .taps = conv.window.taps()};
}

/// A pixel of padding follows the places of the pixels that a tile's rows read.
inline int64_t padding_at(const NarrowGroupConv& lanes, int64_t rows) {
  return static_cast<int64_t>(align_up(static_cast<size_t>(rows * lanes.taps) * sizeof(const float*)));
}

inline ProductTiles tiles_of(const ConvProduct& conv, int threads) {
  const NarrowGroupConv lanes = lanes_of(conv);
  ProductTiles t = product_tiles(conv.size, 0, kMaxRows, threads, 1, kSumBytes);
  // Blocks of columns hold whole groups and whole blocks of weights.
  const int64_t unit = std::lcm(lanes.unit(), ProductTiles::kColumns);
  t.columns = (t.columns + unit - 1) / unit * unit;
  t.column_blocks = (conv.size.n + t.columns - 1) / t.columns;
  t.groups = std::min(t.groups, t.column_blocks);
  t.chunks = std::min<int64_t>(threads, t.row_tiles * t.groups);
  t.left_bytes = static_cast<int64_t>(align_up(
      static_cast<size_t>(padding_at(lanes, t.rows) + lanes.in_channels() * int64_t{sizeof(float)})));
  t.sum_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * t.columns) * sizeof(float)));
  return t;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_narrow_group_conv
