#include "engine/tactics/product/int8_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/tactics/pointwise/lookup_kernel.h"

namespace assay::engine {

namespace {

/// Bytes of gathered rows that stay in the second-level cache.
constexpr int64_t kLeftBytes = 256 << 10;
constexpr int64_t kMaxRows = 192;

static_assert(kernels::kInt8Columns == ProductTiles::kColumns && kernels::kInt8Rows == ProductTiles::kRows);

int64_t whole_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Columns of sums that a group of channels has: whole panels.
int64_t group_columns(int64_t columns) {
  return ceil_div(columns, kernels::kInt8Columns) * kernels::kInt8Columns;
}

ProductTiles row_tiles(const ProductSize& size, int64_t groups, int threads) {
  const int64_t row_bytes = groups * kernels::int8_row_length(size.k);
  const int64_t fitting = std::clamp(kLeftBytes / row_bytes, kernels::kInt8Rows, kMaxRows);
  if (groups == 1) return product_tiles(size, row_bytes, fitting, threads);
  // A group is a block of columns.
  ProductTiles t;
  t.rows = std::min({fitting, size.m, std::max(ceil_div(size.m, threads), kernels::kInt8Rows)});
  t.row_tiles = ceil_div(size.m, t.rows);
  t.columns = size.n / groups;
  t.column_blocks = groups;
  t.groups = t.row_tiles < threads ? std::min<int64_t>(threads, groups) : 1;
  t.chunks = std::min<int64_t>(threads, t.row_tiles * t.groups);
  t.left_bytes = whole_lines(t.rows * row_bytes);
  t.sum_bytes = whole_lines(t.rows * group_columns(t.columns) * 4);
  return t;
}

/// Whole rows of channels, each channel on its own; nothing is gathered.
ProductTiles depthwise_tiles(const ProductSize& size, int threads, bool makes_quantized = false) {
  ProductTiles t;
  t.columns = size.n;
  t.column_blocks = 1;
  t.rows = std::clamp<int64_t>((int64_t{48} << 10) / (4 * size.n), 1,
                               std::max<int64_t>(1, ceil_div(size.m, threads)));
  t.sum_bytes = whole_lines(t.rows * size.n * 4);
  // Sums that become levels at once take no memory, and what is read of the channels serves all rows.
  if (makes_quantized) t.rows = ceil_div(size.m, threads);
  t.row_tiles = ceil_div(size.m, t.rows);
  t.chunks = std::min<int64_t>(threads, t.row_tiles);
  return t;
}

/// The rows are the image as it lies in memory.
bool is_pointwise(const kernels::Window& w) {
  for (size_t a = 0; a < w.rank(); ++a)
    if (w.kernel[a] != 1 || w.strides[a] != 1 || w.begin[a] != 0 || w.out[a] != w.in[a]) return false;
  return true;
}

class Int8Sums : public TiledProduct {
 protected:
  Int8Sums(const StepReader& r, const ProductSize& size, const ProductTiles& tiles,
           const Int8Quantized& levels, std::unique_ptr<SumsEnd> end)
      : TiledProduct(
            r, size, tiles,
            TileEpilogue(r, kInt8Inputs, size, std::array{tiles.rows, size.m % tiles.rows}, tiles.columns)),
        levels_(levels),
        end_(std::move(end)) {
    const std::optional<TableEntries> table = r.read<ResultTable>().table;
    if (!table) return;
    const DType type = r.any_output(0).dtype;
    StepReader::check(type == DType::kUInt8 || type == DType::kInt8, "its table is of {}", dtype_name(type));
    table_ = bytes_of(*table);
  }

  const Int8Quantized& levels() const { return levels_; }
  /// Calls sums(), or levels(end) where the end is those.
  template <typename Sums, typename Levels>
  void compute_end(const KernelArgs& args, const Tile& tile, Sums sums, Levels levels) const {
    if (end_->makes_quantized()) {
      levels(end_->levels(args, finish(), tile));
    } else {
      sums();
      end_->run(args, finish(), tile);
    }
    if (table_) look_up(args, tile);
  }

 private:
  /// While the tile is in the caches.
  void look_up(const KernelArgs& args, const Tile& tile) const {
    auto* const to = reinterpret_cast<uint8_t*>(finish().result(args, tile.row, tile.column));
    if (tile.columns == finish().pitch()) return kernels::look_up(*table_, to, tile.rows * tile.columns, to);
    for (int64_t r = 0; r < tile.rows; ++r) {
      uint8_t* const row = to + r * finish().pitch();
      kernels::look_up(*table_, row, tile.columns, row);
    }
  }

  Int8Quantized levels_;
  std::unique_ptr<SumsEnd> end_;
  std::optional<kernels::ByteTable> table_;  ///< of what is made of the result
};

/// A product with packed weights whose left operand is gathered tile by tile.
class Int8Kernel : public Int8Sums {
 public:
  Int8Kernel(const StepReader& r, const ProductSize& size, int64_t groups, const Int8Quantized& levels,
             std::unique_ptr<SumsEnd> end)
      : Int8Sums(r, size, row_tiles(size, groups, r.plan().threads), levels, std::move(end)),
        groups_(groups),
        weights_{size.n / groups, size.k} {
    r.check_elements(r.row_input(kInt8Right, DType::kUInt8), {groups, weights_.bytes()});
  }

 protected:
  /// Levels that lie in rows without gaps; gathered only where that is not what the product reads.
  const void* quantized_as_rows(const KernelArgs& args, int64_t first, int64_t count,
                                void* scratch) const noexcept {
    const int64_t k = size().k, length = kernels::int8_row_length(k);
    const auto* from = static_cast<const uint8_t*>(args.inputs[kInt8Left]) + first * k;
    if (length == k && !levels().is_signed) return from;
    auto* to = static_cast<uint8_t*>(scratch);
    if (length == k)
      kernels::to_unsigned_quantized(from, levels().is_signed, to, count * k);
    else
      for (int64_t r = 0; r < count; ++r, from += k, to += length) {
        kernels::to_unsigned_quantized(from, levels().is_signed, to, k);
        std::fill(to + k, to + length, uint8_t{0});
      }
    return scratch;
  }

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override {
    return quantized_as_rows(args, first, count, scratch);
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const int64_t length = kernels::int8_row_length(size().k), panel = kernels::kInt8Columns;
    const int zero = levels().zero(args) + (levels().is_signed ? 128 : 0);
    const auto* const left = static_cast<const uint8_t*>(tile.left);
    auto* const sums = static_cast<int32_t*>(tile.sums);
    // A group is a block of columns, with weights of its own.
    const int64_t group = groups_ == 1 ? 0 : tile.column / tile.columns;
    const int64_t first = groups_ == 1 ? tile.column / panel : 0;
    const int64_t stride = groups_ == 1 ? tile.stride : group_columns(tile.columns);
    const kernels::Int8Rows rows{left + group * length, groups_ * length, zero};
    const char* const weights = static_cast<const char*>(args.inputs[kInt8Right]) + group * weights_.bytes();
    compute_end(
        args, tile,
        [&] {
          kernels::int8_product(weights_, weights, first, kernels::Int8Weights::panels_of(tile.columns), rows,
                                tile.rows, sums, stride);
          for (int64_t r = 1; stride > tile.stride && r < tile.rows; ++r)
            std::memmove(sums + r * tile.stride, sums + r * stride, static_cast<size_t>(tile.columns) * 4);
        },
        [&](const kernels::QuantizedEpilogue& end) {
          kernels::int8_product_quantized(weights_, weights, first, tile.columns, rows, tile.rows, sums,
                                          stride, end);
        });
  }

  int64_t groups_;
  kernels::Int8Weights weights_;
};

/// The rows are what a window sees.
class WindowKernel final : public Int8Kernel {
 public:
  WindowKernel(const StepReader& r, ConvProduct conv, const Int8Quantized& levels,
               std::unique_ptr<SumsEnd> end)
      : Int8Kernel(r, conv.size, conv.groups, levels, std::move(end)),
        window_(std::move(conv.window)),
        channels_(conv.in_channels),
        groups_(conv.groups),
        lies_so_(groups_ == 1 && is_pointwise(window_)) {}

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override {
    if (lies_so_) return quantized_as_rows(args, first, count, scratch);
    kernels::gather_int8_rows({&window_, channels_, groups_, levels().is_signed, levels().zero(args)},
                              args.inputs[kInt8Left], first, count, static_cast<uint8_t*>(scratch));
    return scratch;
  }

  kernels::Window window_;
  int64_t channels_, groups_;
  bool lies_so_;
};

/// Every channel on its own, position by position.
class DepthwiseKernel final : public Int8Sums {
 public:
  DepthwiseKernel(const StepReader& r, ConvProduct conv, const ProductTiles& tiles,
                  const Int8Quantized& levels, std::unique_ptr<SumsEnd> end)
      : Int8Sums(r, conv.size, tiles, levels, std::move(end)),
        window_(std::move(conv.window)),
        sum_rows_(depthwise_tiles(conv.size, r.plan().threads).rows) {
    r.check_elements(r.row_input(kInt8Right, DType::kUInt8),
                     {kernels::DepthwiseWeights::of(window_, conv.size.n).bytes()});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t, int64_t, void*) const noexcept override {
    return args.inputs[kInt8Left];
  }
  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const int64_t channels = size().n;
    const kernels::Int8Images images{&window_, channels, channels, levels().is_signed, levels().zero(args)};
    auto* const sums = static_cast<int32_t*>(tile.sums);
    compute_end(
        args, tile,
        [&] {
          kernels::int8_depthwise(images, tile.left, args.inputs[kInt8Right], tile.row, tile.rows, sums);
        },
        [&](const kernels::QuantizedEpilogue& end) {
          kernels::int8_depthwise_quantized(images, tile.left, args.inputs[kInt8Right], tile.row, tile.rows,
                                            sums, sum_rows_, end);
        });
  }

  kernels::Window window_;
  int64_t sum_rows_;  ///< that `sums` has room for
};

}  // namespace

int64_t int8_scratch(const ProductSize& size, int threads) {
  return row_tiles(size, 1, threads).scratch_bytes();
}

int64_t int8_scratch(const ConvProduct& conv, int threads) {
  return (conv.is_depthwise ? depthwise_tiles(conv.size, threads)
                            : row_tiles(conv.size, conv.groups, threads))
      .scratch_bytes();
}

std::string int8_sum_refusal(const ProductSize& size, bool is_depthwise) {
  if (is_depthwise) return size.k > kernels::kMaxInt8Taps ? "its sums may exceed what float32 holds" : "";
  return size.k > kernels::kMaxInt8Sum ? "its sums may exceed 32 bits" : "";
}

int Int8Quantized::zero(const KernelArgs& args) const noexcept {
  if (input == 0 || args.inputs[input] == nullptr) return zero_point;
  return is_signed ? static_cast<int>(*static_cast<const int8_t*>(args.inputs[input]))
                   : static_cast<int>(*static_cast<const uint8_t*>(args.inputs[input]));
}

std::unique_ptr<Kernel> int8_matmul_kernel(const StepReader& r, const ProductSize& size,
                                           const Int8Quantized& levels, std::unique_ptr<SumsEnd> end) {
  StepReader::check(size.k <= kernels::kMaxInt8Sum, "its sums are too long");
  r.check_elements(r.row_input(kInt8Left, levels.is_signed ? DType::kInt8 : DType::kUInt8), {size.m, size.k});
  return std::make_unique<Int8Kernel>(r, size, 1, levels, std::move(end));
}

std::unique_ptr<Kernel> int8_conv_kernel(const StepReader& r, ConvProduct conv, const Int8Quantized& levels,
                                         std::unique_ptr<SumsEnd> end) {
  StepReader::check(int8_sum_refusal(conv.size, conv.is_depthwise).empty(), "its sums are too long");
  if (conv.is_depthwise) {
    const ProductTiles tiles = depthwise_tiles(conv.size, r.plan().threads, end->makes_quantized());
    return std::make_unique<DepthwiseKernel>(r, std::move(conv), tiles, levels, std::move(end));
  }
  return std::make_unique<WindowKernel>(r, std::move(conv), levels, std::move(end));
}

}  // namespace assay::engine
