// Steps of the tactic winograd_1d: their parameters, and the kernel that runs them.
#pragma once

#include <array>

#include "engine/runtime/arena.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "kernels/panel/panel_product.h"
#include "kernels/winograd/winograd_1d.h"

namespace assay::engine::tactic_winograd_1d {

using kernels::Winograd1d;

/// Bytes of transformed images, and of transformed sums, that stay in the second-level cache.
inline constexpr int64_t kLineLeftBytes = 1 << 20, kLineSumBytes = 384 << 10;
inline constexpr int64_t kMaxLineTiles = 96;

/// Tiles whose results are finished together, and how many rows at a time: those of one tile, a row of few
/// channels each where there are dilations, would be too few.
inline constexpr int64_t kFinishedTiles = 16, kFinishedRows = kFinishedTiles * Winograd1d::kResults;

/// The axis that the window has its taps along, and the line; or why there is none.
inline std::string read_line(const ConvProduct& conv, Winograd1d& line) {
  const kernels::Window& w = conv.window;
  if (conv.is_depthwise) return "every channel has a group of its own";
  size_t axis = w.rank();
  for (size_t a = 0; a < w.rank(); ++a) {
    if (w.strides[a] != 1) return "it has strides";
    if (w.kernel[a] == 1 && w.in[a] == w.out[a] && w.begin[a] == 0) continue;
    if (axis < w.rank()) return "its windows have several axes";
    axis = a;
  }
  if (axis == w.rank() || w.kernel[axis] == 1) return "it has one tap";
  line = {.images = conv.size.m / w.out_size(),
          .in_length = w.in[axis],
          .out_length = w.out[axis],
          .inner = 1,
          .channels = conv.in_channels,
          .outputs = conv.size.n,
          .taps = w.kernel[axis],
          .dilation = w.dilations[axis],
          .pad = w.begin[axis]};
  for (size_t a = 0; a < w.rank(); ++a)
    if (a != axis) (a < axis ? line.images : line.inner) *= w.in[a];
  return {};
}

inline ProductSize product_of(const Winograd1d& line) { return {line.tiles(), line.outputs, line.depth()}; }

/// Rows of the transformed tiles are placed so that those of a tile of sums share no cache sets.
inline int64_t left_stride(const Winograd1d& line) { return line.depth() + ProductTiles::kColumns; }

inline int64_t left_point_stride(const Winograd1d& line, int64_t tiles) {
  return tiles * left_stride(line) + ProductTiles::kColumns;
}

/// Behind them: the marks of special tiles.
inline int64_t marks_at(const Winograd1d& line, int64_t tiles) {
  return Winograd1d::kPoints * left_point_stride(line, tiles) * 4;
}

inline int64_t sum_point_stride(int64_t tiles, int64_t columns) {
  return tiles * columns + ProductTiles::kColumns;
}

inline ProductTiles tiles_of(const Winograd1d& line, int threads) {
  constexpr int64_t kPoints = Winograd1d::kPoints;
  const int64_t row_bytes = kPoints * left_stride(line) * 4;
  ProductTiles t =
      product_tiles(product_of(line), row_bytes,
                    std::clamp(kLineLeftBytes / row_bytes, 2 * ProductTiles::kRows, kMaxLineTiles), threads,
                    kPoints, kLineSumBytes, kernels::kPanelGroup);
  t.left_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(marks_at(line, t.rows) + t.rows)));
  // The spare memory, as large, holds results, and those again behind the epilogue.
  t.sum_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(
      std::max(kPoints * sum_point_stride(t.rows, t.columns), 2 * kFinishedRows * t.columns) * 4)));
  return t;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_winograd_1d
