// Products of rows that are gathered with a constant matrix in panels, cut into tiles: shared by the tactics
// on 8-bit integers and those on panels of floats, with the epilogue from a tile of float32 numbers to the
// result.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/common_epilogue_kernel.h"
#include "engine/tactics/product/matrix_kernel.h"
#include "kernels/conv.h"
#include "kernels/image_rows.h"

namespace assay::engine {

/// sums[m, n] of products of length k.
struct ProductSize {
  int64_t m = 0, n = 0, k = 0;
};

/// The tiling of a product: tiles of rows, which are gathered once, times blocks of columns.
struct ProductTiles {
  /// Of every product, 4 bytes a sum.
  static constexpr int64_t kColumns = 16, kRows = 12;

  int64_t rows = 0, row_tiles = 0;
  int64_t columns = 0, column_blocks = 0;  ///< whole panels of weights
  int64_t groups = 1;  ///< parts of the column blocks that threads share where rows are few
  int64_t chunks = 1;  ///< sequences of tiles, each with scratch memory of its own
  int64_t left_bytes = 0, sum_bytes = 0;  ///< of a chunk's scratch: gathered rows, and a tile of sums

  int64_t scratch_bytes() const { return chunks * (left_bytes + 2 * sum_bytes); }
};

/// Bytes of sums that stay in the second-level cache with the gathered rows.
inline constexpr int64_t kTileSumBytes = 48 << 10;

/// `row_bytes`: of a gathered row; `fitting`: rows that a tile may have as far as caches are concerned;
/// `sums`: numbers that stand for an element of the product until it is finished, of which a tile has at most
/// `sum_bytes`; `group`: panels that a block of columns is a multiple of, where it is larger.
ProductTiles product_tiles(const ProductSize& size, int64_t row_bytes, int64_t fitting, int threads,
                           int64_t sums = 1, int64_t sum_bytes = kTileSumBytes, int64_t group = 1);

/// A convolution in a step.
struct ConvFields {
  size_t axes = 0;
  int64_t most_groups = 1;
  std::vector<int64_t> kernel = {}, strides = {}, dilations = {}, begin = {}, end = {};
  bool is_depthwise = false;
  int64_t groups = 1;

  void fields(FieldVisitor& visit) {
    visit("kernel", kernel, axes, {1, kMaxOfWindow});
    visit("strides", strides, axes, {1, kMaxOfWindow});
    visit("dilations", dilations, axes, {1, kMaxOfWindow});
    visit("pads_begin", begin, axes, {0, kMaxOfWindow});
    visit("pads_end", end, axes, {0, kMaxOfWindow});
    visit("depthwise", is_depthwise);
    visit("groups", groups, {1, most_groups});
  }
};

/// The extents of a product of rows with a matrix.
struct ProductFields {
  int64_t most_k = std::numeric_limits<int64_t>::max();
  ProductSize size;

  void fields(FieldVisitor& visit) {
    visit("m", size.m, kPositive);
    visit("n", size.n, kPositive);
    visit("k", size.k, {1, most_k});
  }
};

/// Dequantization of 8-bit operands of an epilogue.
struct OperandFields {
  size_t operands = 0;
  std::vector<double> scales = {}, zero_points = {};

  void fields(FieldVisitor& visit) {
    visit("operand_scales", scales, operands);
    visit("operand_zero_points", zero_points, operands);
  }
};

/// A convolution as a product: batch times positions are its rows.
struct ConvProduct {
  kernels::Window window;
  int64_t in_channels = 0;
  bool is_depthwise = false;  ///< every channel on its own: k counts taps
  int64_t groups = 1;         ///< of several channels: k counts those of one
  ProductSize size;
};

/// The layout of a step's images that product_layouts() returned, of which its result's is checked.
Layout product_layout(const StepReader& r);

/// True when groups of several channels are supported.
enum class ConvGroups : uint8_t { kRefused, kTaken };

ConvProduct read_conv_product(const StepReader& r, ConvGroups groups, Layout in, Layout out);

inline ConvProduct read_conv_product(const StepReader& r, ConvGroups groups = ConvGroups::kRefused,
                                     Layout layout = Layout::channels_last()) {
  return read_conv_product(r, groups, layout, layout);
}

/// Runs the epilogue that write_tile_epilogue() wrote.
class TileEpilogue {
 public:
  /// Of a step whose result is size.m x size.n in memory (int32 only where nothing happens to the numbers)
  /// and whose operands follow `inputs` others, for tiles of this many rows, each of `columns` (fewer at the
  /// end) numbers in rows of as many. Throws Error (kInvalidModel).
  TileEpilogue(const StepReader& r, size_t inputs, const ProductSize& size, std::span<const int64_t> rows,
               int64_t columns);
  /// The same for the tiles of a product.
  TileEpilogue(const StepReader& r, size_t inputs, const ProductSize& size, const ProductTiles& tiles);

  const EpilogueSpec& spec() const { return spec_; }
  /// Nothing happens to the numbers: they may be written where they belong.
  bool is_plain() const { return spec_.entries.empty() && result_type_ != DType::kBFloat16; }
  /// Rows of the result follow each other, not in blocks of columns.
  bool has_rows() const { return places_.block == size_.n; }
  /// The position of a tile's first element in a result that has rows, and their distance.
  char* result(const KernelArgs& args, int64_t row, int64_t column) const {
    return static_cast<char*>(args.outputs[0]) + (row * size_.n + column) * static_cast<int64_t>(width_);
  }
  int64_t pitch() const { return size_.n * static_cast<int64_t>(width_); }
  /// A tile of rows x columns numbers, rows `stride` apart; `spare` is as large.
  void run(const KernelArgs& args, int64_t row, int64_t rows, int64_t column, int64_t columns,
           const float* values, int64_t stride, void* spare) const noexcept;

 private:
  struct Operand {
    size_t position;  ///< among the step's inputs
    bool is_whole;    ///< has the result's layout
    int64_t column_stride;
    size_t width;
  };
  struct Loop {
    int64_t rows, columns;
    kernels::PointwiseLoop loop;
  };
  void add_operands(const StepReader& r);
  void find_common_epilogue();
  void make_program(const StepReader& r, std::span<const int64_t> rows, int64_t columns);
  /// The same with a common epilogue where something is stored in bfloat16.
  void run_narrow_rows(const KernelArgs& args, int64_t place, int64_t rows, int64_t column, int64_t columns,
                       const float* values, int64_t stride) const noexcept;
  /// Numbers in rows `places_.block` apart, from element `place` of the result on.
  void run_rows(const KernelArgs& args, int64_t place, int64_t rows, int64_t column, int64_t columns,
                const float* values, int64_t stride, void* spare) const noexcept;

  ProductSize size_;
  kernels::ImagePlaces places_;  ///< of the result
  size_t width_ = 4;             ///< bytes of an element of the result
  EpilogueSpec spec_;
  std::vector<Operand> operands_;
  std::vector<kernels::PointwiseOperand> types_;
  DType result_type_ = DType::kFloat32;
  std::vector<Loop> loops_;
  std::optional<CommonEnd> common_epilogue_;
  bool is_narrow_ = false;    ///< the result of a common epilogue, or its addend, is in bfloat16
  bool adds_narrow_ = false;  ///< the addend is
};

/// Runs a product tile by tile.
class TiledProduct : public Kernel {
 public:
  Status run(const KernelArgs& args) noexcept final;

  /// A tile: rows of the left operand times columns of the right one.
  struct Tile {
    int64_t row, rows, column, columns;
    int64_t stride;      ///< of `sums`
    const void* left;    ///< the result of gather()
    void* gathered;      ///< the scratch memory that gather() was given
    void *sums, *spare;  ///< scratch, 4 bytes a number
  };

 protected:
  /// `finish` may be of a result that is not the product's own.
  TiledProduct(const StepReader& r, const ProductSize& size, const ProductTiles& tiles, TileEpilogue finish);

  /// Rows [first, first + count) of the left operand, in `scratch` or in place.
  virtual const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                             void* scratch) const noexcept = 0;
  /// Computes a tile of the result.
  virtual void compute(const KernelArgs& args, const Tile& tile) const noexcept = 0;

  const ProductSize& size() const { return size_; }
  const TileEpilogue& finish() const { return finish_; }

 private:
  void run_chunk(const KernelArgs& args, int64_t chunk) const;

  ProductSize size_;
  ProductTiles tiles_;
  TileEpilogue finish_;
};

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Whether an epilogue writes results of this type, and reads operands of it.
inline bool is_tile_type(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kUInt8 || dtype == DType::kInt8;
}
/// The same of what is stored: float32 numbers may be rounded to bfloat16 there.
inline bool is_stored_tile_type(DType dtype) { return is_tile_type(dtype) || dtype == DType::kBFloat16; }

}  // namespace assay::engine
