// Shared parts of the tactics on panels of floats: the constant matrix, stored in 32 or 16 bits, and products
// of tiles of float32 rows with it; or of rows in bfloat16, where the processor multiplies those.
#pragma once

#include <functional>

#include "engine/tactics/product/tiled_product_kernel.h"
#include "engine/tactics/stored_form_kernel.h"
#include "kernels/panel/panel_product.h"

namespace assay::engine {

/// A reader of a step that propose_panels() wrote.
StepReader read_panel_step(const Plan& plan, const Step& step);

/// The type in which such a step has its left operand: float32, or bfloat16 where it multiplies that.
DType left_type(const StepReader& r);

/// A product whose left operand's rows are pixels in place, or gathered; in float32, or in bfloat16.
class RowProduct : public TiledProduct {
 public:
  /// Gives the rows [first, first + count) of the left operand to `scratch`, k numbers each.
  using Gather = std::function<void(const float* x, int64_t first, int64_t count, float* rows)>;
  /// The same rounded to bfloat16, an even number each; or as they are, of what is stored in bfloat16.
  using NarrowGather = std::function<void(const void* x, int64_t first, int64_t count, uint16_t* rows)>;
  struct Gathers {
    kernels::ImagePlaces lying;  ///< of the pixels in memory
    Gather wide;                 ///< empty: rows are pixels
    NarrowGather narrow;
  };

 protected:
  /// The operands of the epilogue follow `inputs` others. Takes `gathers`.
  RowProduct(const StepReader& r, size_t inputs, const ProductSize& size, const ProductTiles& tiles,
             Gathers& gathers);

  /// Rows are in bfloat16.
  bool rounds() const { return rounds_; }
  /// Where the sums of a tile go: into the result itself if nothing happens to them.
  struct Sums {
    float* first;
    int64_t stride;
    bool are_direct;
  };
  Sums sums_of(const KernelArgs& args, const Tile& tile) const noexcept;
  void finish_sums(const KernelArgs& args, const Tile& tile, const Sums& sums) const noexcept;

  /// Calls multiply(a, first, rows) for the float32 rows of a tile: all of them where they are gathered or
  /// are stored as one matrix, else those of one image at a time; `first` counts from the tile's first row.
  template <typename Multiply>
  void for_rows(const Tile& tile, Multiply multiply) const {
    const kernels::ImagePlaces& lying = gathers_.lying;
    const int64_t k = size().k;
    const auto* const left = static_cast<const float*>(tile.left);
    if (gathers_.wide) return multiply(kernels::PanelRows{left, k}, 0, tile.rows);
    if (lying.block == k) return multiply(kernels::PanelRows{left + tile.row * k, k}, 0, tile.rows);
    for (int64_t r = 0, some = 0; r < tile.rows; r += some) {
      some = std::min(tile.rows - r, lying.pixels - (tile.row + r) % lying.pixels);
      multiply(kernels::PanelRows{left + lying.of(tile.row + r, 0), lying.block, lying.block,
                                  lying.block_distance()},
               r, some);
    }
  }

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept final;

  bool rounds_;
  bool in_place_;  ///< rows in bfloat16 are multiplied in place
  Gathers gathers_;
};

class PanelKernel final : public RowProduct {
 public:
  PanelKernel(const StepReader& r, const ProductSize& size, Gathers gathers);

 private:
  void compute(const KernelArgs& args, const Tile& tile) const noexcept override;

  kernels::PanelMatrix matrix_;
};

/// Bytes of gathered rows that stay in the caches.
inline constexpr int64_t kPanelLeftBytes = 512 << 10;
inline constexpr int64_t kMinPanelRows = 60, kMaxPanelRows = 192;

/// Of rows in bfloat16: pairs are multiplied.
inline int64_t narrow_length(int64_t k) { return k + k % 2; }

/// Rows in memory are read again for every block of columns, in order: they need not stay in a
/// cache.
inline constexpr int64_t kMaxLyingRows = 256;
inline constexpr int64_t kPanelSumBytes = 64 << 10;

struct PanelFields {
  std::string type = "float32";  ///< of the stored matrix
  bool rounds = false;           ///< the rows, to bfloat16

  void fields(FieldVisitor& visit) {
    visit("type", type);
    visit("rounds", rounds);
  }
};

inline ProductTiles panel_tiles(const ProductSize& size, bool gathered, bool rounds, int threads) {
  if (!gathered && !rounds)
    return product_tiles(size, 0, kMaxLyingRows, threads, 1, kPanelSumBytes, kernels::kPanelGroup);
  const int64_t row_bytes = rounds ? narrow_length(size.k) * 2 : size.k * 4;
  return product_tiles(size, row_bytes, std::clamp(kPanelLeftBytes / row_bytes, kMinPanelRows, kMaxPanelRows),
                       threads, 1, kTileSumBytes, rounds ? 1 : kernels::kPanelGroup);
}

}  // namespace assay::engine
