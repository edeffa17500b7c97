// Steps of the tactic winograd_conv: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/arena.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/product/panel_product_kernel.h"
#include "kernels/image_rows.h"
#include "kernels/panel/panel_product.h"
#include "kernels/winograd/winograd.h"

namespace assay::engine::tactic_winograd_conv {

using kernels::WinogradSize;

/// Bytes of transformed images and of transformed sums, all of which is gone through in order: a little more
/// than a second-level cache of 1 MiB costs less than reading the weights more often.
inline constexpr int64_t kLeftBytes = 576 << 10, kSumBytes = 448 << 10;
inline constexpr int64_t kMaxTiles = 48;

/// Of a group: with fewer, transforms cost more than the multiplications that they save.
inline constexpr int64_t kMinGroupInputs = 32;

/// Transformed weights of more bytes come from memory for every tile of rows: then few and large tiles are
/// worth more, whose images are read once for each block of columns, in order.
inline constexpr int64_t kCachedWeightBytes = 8 << 20, kManyLeftBytes = 16 << 20;

/// Of small groups' transformed sums, in addition to about as many of images; and channels of such a group.
/// (Groups of 128 and more take a third longer in this way.)
inline constexpr int64_t kGroupBytes = 224 << 10, kMaxTogether = 64;

struct StepFields {
  int64_t m = 2;  ///< of tiles of m x m results

  void fields(FieldVisitor& visit) { visit("m", m, {2, 4}); }
};

inline bool all_are(const std::vector<int64_t>& v, int64_t x) {
  return std::all_of(v.begin(), v.end(), [x](int64_t y) { return y == x; });
}

/// Empty when the convolution has the form for it.
inline std::string form_refusal(const ConvProduct& conv) {
  const kernels::Window& w = conv.window;
  if (w.rank() != 2 || !all_are(w.kernel, 3)) return "its windows are not 3x3";
  if (!all_are(w.strides, 1)) return "it has strides";
  if (conv.is_depthwise) return "every channel has a group of its own";
  if (conv.in_channels % kernels::kWinogradChannels != 0 || conv.size.n % kernels::kWinogradChannels != 0)
    return fmt::format("its channels are not multiples of {}", kernels::kWinogradChannels);
  if (conv.groups > 1 && (conv.in_channels / conv.groups % kernels::kWinogradChannels != 0 ||
                          conv.in_channels / conv.groups < kMinGroupInputs ||
                          conv.size.n / conv.groups % kernels::kPanelColumns != 0))
    return fmt::format("its groups are of {} and {} channels", conv.in_channels / conv.groups,
                       conv.size.n / conv.groups);
  return {};
}

inline WinogradSize size_of(const ConvProduct& conv, int64_t m, Layout layout) {
  const kernels::Window& w = conv.window;
  return {.batch = conv.size.m / w.out_size(),
          .in_height = w.in[0],
          .in_width = w.in[1],
          .in_channels = conv.in_channels,
          .out_height = w.out[0],
          .out_width = w.out[1],
          .out_channels = conv.size.n,
          .pad_top = w.begin[0],
          .pad_left = w.begin[1],
          .m = m,
          .down = w.dilations[0],
          .right = w.dilations[1],
          .in_block = layout.is_blocked() ? layout.block : 0,
          .groups = conv.groups};
}

inline ProductSize product_of(const WinogradSize& size) {
  return {size.tiles(), size.out_channels, size.group_inputs()};
}

inline kernels::PanelMatrix matrix_of(const WinogradSize& size) {
  return {size.out_channels, size.group_inputs()};
}

/// Transformed tiles, in scratch memory.
struct LeftRows {
  int64_t points, channels;

  /// Rows are placed so that those of a tile of sums share no cache sets.
  int64_t stride() const { return channels + ProductTiles::kColumns; }
  int64_t point_stride(int64_t tiles) const { return tiles * stride() + ProductTiles::kColumns; }
  /// Behind them is room for the marks of special tiles, and for the plain rows of one tile.
  int64_t marks_at(int64_t tiles) const { return points * point_stride(tiles) * 4; }
  int64_t plain_rows_at(int64_t tiles) const {
    return static_cast<int64_t>(align_up(static_cast<size_t>(marks_at(tiles) + tiles)));
  }
};

/// Of the sums of one point: they do not share sets of a cache either.
inline int64_t sum_point_stride(int64_t tiles, int64_t columns) {
  return tiles * columns + ProductTiles::kColumns;
}

/// How the products are cut, and what is transformed at a time.
struct WinogradTiles {
  ProductTiles product;
  LeftRows left;
};

inline WinogradTiles tiles_of(const WinogradSize& size, int threads) {
  WinogradTiles t{{}, {size.points(), size.in_channels}};
  // Of small groups, a block of columns needs few channels, which are transformed for it.
  if (size.groups > 1 && size.group_outputs() <= kMaxTogether) {
    const int64_t rows = std::min(kGroupBytes / (size.points() * size.group_outputs() * 4), kMaxTiles);
    t.product =
        product_tiles(product_of(size), 0, rows, threads, size.points(), kGroupBytes, kernels::kPanelGroup);
    const int64_t groups = std::max<int64_t>(1, t.product.columns / size.group_outputs());
    t.product.columns = groups * size.group_outputs();
    t.product.column_blocks = (size.out_channels + t.product.columns - 1) / t.product.columns;
    t.product.groups = std::min(t.product.groups, t.product.column_blocks);
    t.product.chunks = std::min<int64_t>(threads, t.product.row_tiles * t.product.groups);
    t.left.channels = groups * size.group_inputs();
  } else {
    const int64_t row_bytes = size.points() * t.left.stride() * 4;
    const bool is_large = size.points() * matrix_of(size).bytes() > kCachedWeightBytes;
    t.product = product_tiles(
        product_of(size), row_bytes,
        std::clamp((is_large ? kManyLeftBytes : kLeftBytes) / row_bytes, ProductTiles::kRows, kMaxTiles),
        threads, size.points(), kSumBytes, kernels::kPanelGroup);
  }
  t.product.left_bytes = static_cast<int64_t>(align_up(
      static_cast<size_t>(t.left.plain_rows_at(t.product.rows) + size.m * 9 * size.in_channels * 4)));
  t.product.sum_bytes = static_cast<int64_t>(
      align_up(static_cast<size_t>(size.points() * sum_point_stride(t.product.rows, t.product.columns) * 4)));
  return t;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_winograd_conv
