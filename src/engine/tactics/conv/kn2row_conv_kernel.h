// Steps of the tactic kn2row_conv: their parameters, and the kernel that runs them.
#pragma once

#include <array>

#include "engine/runtime/arena.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "engine/tactics/product/tiled_product_kernel.h"
#include "kernels/kn2row_conv/kn2row_conv.h"

namespace assay::engine::tactic_kn2row_conv {

using kernels::Kn2rowConv;

/// Results of a tile, whose sums and pixels stay in the second-level cache together with the weights.
inline constexpr int64_t kMaxResults = 192, kTapSumBytes = 64 << 10;

/// Results of a part: a long row is cut, so that threads can share it.
inline constexpr int64_t kMaxOfPart = 96;

struct StepFields {
  bool transposed = false;

  void fields(FieldVisitor& visit) { visit("transposed", transposed); }
};

/// With the sizes around it.
struct TapProduct {
  Kn2rowConv conv;
  ProductSize size;  ///< results of all images, output channels, depth

  kernels::PanelMatrix matrix() const { return {size.n, size.k}; }
  int64_t row() const { return conv.result().back(); }
  int64_t rows() const { return size.m / row(); }
  /// Results of all parts of a row but the last.
  int64_t part() const {
    // Tiles of six rows fill the registers, also where a tap adds to every stride-th result.
    const int64_t unit = 6 * (conv.transposed ? conv.window.strides.back() : 1),
                  pieces = (row() + kMaxOfPart - 1) / kMaxOfPart, even = (row() + pieces - 1) / pieces;
    return pieces == 1 ? row() : std::min(row(), (even + unit - 1) / unit * unit);
  }
  int64_t parts_of_row() const { return (row() + part() - 1) / part(); }
  int64_t last_part() const { return row() - (parts_of_row() - 1) * part(); }
  /// The product whose rows are parts.
  ProductSize parts() const { return {rows() * parts_of_row(), size.n, size.k}; }
};

inline ProductTiles tiles_of(const TapProduct& product, int threads) {
  const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t parts = product.parts().m, panels = product.matrix().panels(), part = product.part();
  ProductTiles t;
  t.row_tiles = ceil_div(parts, std::clamp<int64_t>(kMaxResults / part, 1, kernels::kMaxKn2rowParts));
  // Threads share the parts evenly, or the columns where one tile has all parts: then every weight is read
  // once.
  const bool share_columns = t.row_tiles == 1 && panels >= 2 * threads;
  if (parts >= threads && !share_columns) t.row_tiles = ceil_div(t.row_tiles, threads) * threads;
  t.rows = ceil_div(parts, std::min(parts, t.row_tiles));
  t.row_tiles = ceil_div(parts, t.rows);
  int64_t per_block =
      std::clamp<int64_t>(kTapSumBytes / (t.rows * part * kernels::kPanelColumns * 4), 1, panels);
  if (t.row_tiles < threads) {
    t.groups = std::min<int64_t>(ceil_div(threads, t.row_tiles), panels);
    per_block = std::min(per_block, ceil_div(panels, t.groups));
  }
  if (per_block > kernels::kPanelGroup) per_block = per_block / kernels::kPanelGroup * kernels::kPanelGroup;
  t.columns = per_block * kernels::kPanelColumns;
  t.column_blocks = ceil_div(panels, per_block);
  t.groups = std::min(t.groups, t.column_blocks);
  t.chunks = std::min<int64_t>(threads, t.row_tiles * t.groups);
  t.sum_bytes =
      static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * part * t.columns) * sizeof(float)));
  return t;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_kn2row_conv
