// Convolution by 3x3 windows with stride 1 after Winograd, channels last or in blocks of them: fewer
// multiplications for more rounding. Tiles of 2x2 stay within what a plain sum is expected to err; those of
// 4x4 do where so many channels are summed up that the sums' own rounding outweighs that of the transforms.
// Infinities and NaN would spread over a tile, so tiles that hold some are computed as they are defined.
#include "kernels/winograd/winograd.h"

#include <algorithm>

#include "base/parallel.h"

#include "engine/runtime/arena.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/image_rows.h"
#include "kernels/panel/panel_product.h"

namespace assay::engine::tactic_winograd_conv {
namespace {

using kernels::WinogradSize;

constexpr std::string_view kOperators[] = {"Conv"};

/// Bytes of transformed images and of transformed sums, all of which is gone through in order: a little more
/// than a second-level cache of 1 MiB costs less than reading the weights more often.
constexpr int64_t kLeftBytes = 576 << 10, kSumBytes = 448 << 10;
constexpr int64_t kMaxTiles = 48;
/// Of a group: with fewer, transforms cost more than the multiplications that they save.
constexpr int64_t kMinGroupInputs = 32;
/// Transformed weights of more bytes come from memory for every tile of rows: then few and large tiles are
/// worth more, whose images are read once for each block of columns, in order.
constexpr int64_t kCachedWeightBytes = 8 << 20, kManyLeftBytes = 16 << 20;
/// Of small groups' transformed sums, beside which are about as many of images; and channels of such a group.
/// (Groups of 128 and more take a third longer in this way.)
constexpr int64_t kGroupBytes = 224 << 10, kMaxTogether = 64;

/// Results of tiles side by side that are finished together, m rows of them: they stay in a first-level
/// cache. And how many of a row at a time.
constexpr int64_t kFinishedPixels = 64;
constexpr std::array<int64_t, 6> kRowsAtATime = {32, 16, 4, 3, 2, 1};

struct StepFields {
  int64_t m = 2;  ///< of tiles of m x m results

  void fields(FieldVisitor& visit) { visit("m", m, {2, 4}); }
};

bool all_are(const std::vector<int64_t>& v, int64_t x) {
  return std::all_of(v.begin(), v.end(), [x](int64_t y) { return y == x; });
}

/// Empty when the convolution has the form for it.
std::string form_refusal(const ConvProduct& conv) {
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

WinogradSize size_of(const ConvProduct& conv, int64_t m, Layout layout) {
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

ProductSize product_of(const WinogradSize& size) {
  return {size.tiles(), size.out_channels, size.group_inputs()};
}
kernels::PanelMatrix matrix_of(const WinogradSize& size) { return {size.out_channels, size.group_inputs()}; }

/// Transformed tiles, in scratch memory.
struct LeftRows {
  int64_t points, channels;

  /// Rows lie so that those of a tile of sums do not share sets of a cache.
  int64_t stride() const { return channels + ProductTiles::kColumns; }
  int64_t point_stride(int64_t tiles) const { return tiles * stride() + ProductTiles::kColumns; }
  /// Behind them is room for the marks of special tiles, and for the plain rows of one tile.
  int64_t marks_at(int64_t tiles) const { return points * point_stride(tiles) * 4; }
  int64_t plain_rows_at(int64_t tiles) const {
    return static_cast<int64_t>(align_up(static_cast<size_t>(marks_at(tiles) + tiles)));
  }
};
/// Of the sums of one point: they do not share sets of a cache either.
int64_t sum_point_stride(int64_t tiles, int64_t columns) { return tiles * columns + ProductTiles::kColumns; }

/// How the products are cut, and what is transformed at a time.
struct WinogradTiles {
  ProductTiles product;
  LeftRows left;
};

WinogradTiles tiles_of(const WinogradSize& size, int threads) {
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

Tensor pack(const UnalignedTensor& weights, const WinogradSize& size) {
  const Tensor all = weights.aligned();
  const kernels::PanelMatrix matrix = matrix_of(size);
  static_assert(kernels::kPanelColumns == kernels::kWinogradOutputs);
  const bool is_whole = size.out_channels % kernels::kPanelColumns == 0;  // no columns to fill up with zeros
  Tensor packed = is_whole ? Tensor::allocate(DType::kUInt8, Shape{size.points() * matrix.bytes()})
                           : Tensor::zeros(DType::kUInt8, Shape{size.points() * matrix.bytes()});
  auto* const to = reinterpret_cast<float*>(packed.mutable_data());
  const auto* const from = all.data<float>();
  const int64_t panel_floats = matrix.panel_bytes() / 4, point_floats = matrix.bytes() / 4;
  parallel_for(matrix.panels(), 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t column = p * kernels::kPanelColumns;
      kernels::transform_winograd_weights(size, from, column,
                                          std::min(kernels::kPanelColumns, size.out_channels - column),
                                          to + p * panel_floats, kernels::kPanelColumns, point_floats);
    }
  });
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv, ConvGroups::kTaken); !reason.empty()) return reason;
  if (std::string reason = form_refusal(conv); !reason.empty()) return reason;
  if (!all_finite(p, *p.input_constant(1))) return "a weight is infinite or NaN";
  const auto add = [&](int64_t m, Layout layout) {
    const WinogradSize size = size_of(conv, m, layout);
    const kernels::PanelMatrix matrix = matrix_of(size);
    Candidate& b = proposals.add(fmt::format("{0}x{0}{1}", m, layout.is_blocked() ? " " + layout.str() : ""),
                                 m == 2 || size.group_inputs() >= kernels::kWinogradLargeTileChannels
                                     ? NumericsClass::kReassociated
                                     : NumericsClass::kLowered);
    b.add_input(p.node().input(0), layout);
    const UnalignedTensor& weights = *p.input_constant(1);
    b.add_constant(p.node().input(1)->name(), weights, fmt::format("Winograd {0}x{0} in panels", m),
                   [weights, size] { return pack(weights, size); });
    add_padded_bias(p.node().input(2), 1, matrix.filled_columns(), b);
    b.add_output(p.region().output(), layout);
    b.write(conv_fields(conv));
    b.write(StepFields{.m = m});
    b.step.scratch_bytes = tiles_of(size, p.config().threads).product.scratch_bytes();
    const ProductSize product = product_of(size);
    // Of groups, transforms cost as much as the products of some more inputs.
    constexpr double kTransformInputs = 24;
    const double inputs = static_cast<double>(product.k),
                 share = size.groups == 1 ? 1 : inputs / (inputs + kTransformInputs);
    b.estimate = estimate_with_weights(
        2.0 * static_cast<double>(size.points()) * static_cast<double>(product.m) *
            static_cast<double>(matrix.filled_columns()) * static_cast<double>(product.k),
        static_cast<double>(size.points() * matrix.bytes()), (m == 2 ? 0.58 : 0.55) * share);
    write_tile_epilogue(p, p.region().epilogue, layout, b);
  };
  for (const Layout layout : product_layouts(p, conv))
    for (const int64_t m : {2, 4}) add(m, layout);
  return {};
}

class WinogradKernel final : public TiledProduct {
 public:
  WinogradKernel(const StepReader& r, const ConvProduct& conv, const WinogradSize& size,
                 const WinogradTiles& tiles)
      : TiledProduct(r, product_of(size), tiles.product,
                     TileEpilogue(r, 3, conv.size, kRowsAtATime, tiles.product.columns)),
        window_(conv.window),
        winograd_(size),
        left_(tiles.left),
        matrix_(matrix_of(size)) {
    r.product({size.points(), matrix_.k, matrix_.panels(), kernels::kPanelColumns * 4});
    r.check_elements(r.row_input(1, DType::kUInt8), {size.points(), matrix_.bytes()});
    r.optional_elements(2, {matrix_.panels(), kernels::kPanelColumns});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override {
    if (left_.channels == winograd_.in_channels) transform(args, first, count, 0, left_.channels, scratch);
    return scratch;
  }

  void transform(const KernelArgs& args, int64_t first, int64_t count, int64_t channel, int64_t channels,
                 void* scratch) const noexcept {
    kernels::transform_winograd_inputs(
        winograd_, static_cast<const float*>(args.inputs[0]), first, count, {channel, channels},
        {static_cast<float*>(scratch), left_.stride(), left_.point_stride(count)},
        static_cast<uint8_t*>(scratch) + left_.marks_at(count));
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const int64_t m = winograd_.m, point_stride = sum_point_stride(tile.rows, tile.stride);
    auto* const sums = static_cast<float*>(tile.sums);
    int64_t channel = 0;  // the first that is transformed
    if (left_.channels < winograd_.in_channels) {
      channel = tile.column / winograd_.group_outputs() * winograd_.group_inputs();
      transform(args, tile.row, tile.rows, channel,
                tile.columns / winograd_.group_outputs() * winograd_.group_inputs(), tile.gathered);
    }
    for (int64_t p = 0; p < winograd_.points(); ++p) {
      const auto* const weights = static_cast<const float*>(args.inputs[1]) + p * (matrix_.bytes() / 4);
      const float* const left = static_cast<const float*>(tile.left) + p * left_.point_stride(tile.rows);
      // Columns of one group at a time.
      for (int64_t k = 0, some = 0; k < tile.columns; k += some) {
        const int64_t group = (tile.column + k) / winograd_.group_outputs();
        some = std::min(tile.columns - k, (group + 1) * winograd_.group_outputs() - tile.column - k);
        kernels::panel_product_in_parts(matrix_, weights, (tile.column + k) / kernels::kPanelColumns,
                                        (some + kernels::kPanelColumns - 1) / kernels::kPanelColumns,
                                        left + group * winograd_.group_inputs() - channel, left_.stride(),
                                        tile.rows, sums + p * point_stride + k, tile.stride);
      }
    }
    const float* const bias =
        args.inputs[2] == nullptr ? nullptr : static_cast<const float*>(args.inputs[2]) + tile.column;
    // The spare memory is as large as all sums: the results of a run of tiles fit, and a row of them after
    // the epilogue.
    auto* const pixels = static_cast<float*>(tile.spare);
    const auto* const special = static_cast<const uint8_t*>(tile.left) + left_.marks_at(tile.rows);
    for (int64_t t = 0; t < tile.rows;) {
      const Run run = run_from(tile.row + t, tile.rows - t);
      const int64_t row_stride = run.tiles * m * tile.stride;
      for (int64_t n = 0; run.high > 0 && n < run.tiles; ++n) {
        if (special[t + n] == 0)
          kernels::transform_winograd_outputs(m, sums + (t + n) * tile.stride, point_stride, tile.columns,
                                              bias, pixels + n * m * tile.stride, row_stride, tile.stride);
        else
          compute_plainly(args, tile, run, n, bias, pixels + n * m * tile.stride, row_stride);
      }
      for (int64_t i = 0; i < run.high; ++i)
        if (winograd_.right == 1)
          row_epilogue(args, tile, result_of(run, i, 0), run.wide, pixels + i * row_stride,
                       pixels + m * row_stride);
        else
          for (int64_t j = 0; j < run.wide; ++j)
            row_epilogue(args, tile, result_of(run, i, j), 1, pixels + i * row_stride + j * tile.stride,
                         pixels + m * row_stride);
      t += run.tiles;
    }
  }

  /// Tiles beside each other, whose results are finished together. A tile beyond the last row or column of
  /// its image has no results.
  struct Run {
    WinogradSize::Corner corner;
    int64_t tiles, high, wide;
  };

  Run run_from(int64_t first, int64_t most) const noexcept {
    const int64_t m = winograd_.m;
    const WinogradSize::Corner corner = winograd_.corner(first);
    int64_t tiles = 1;
    if (winograd_.right == 1)
      tiles = std::min({most, kFinishedPixels / (m * m), (winograd_.out_width - corner.x + m - 1) / m});
    return {corner, tiles,
            std::clamp<int64_t>(winograd_.results_from(corner.y, winograd_.out_height, winograd_.down), 0, m),
            std::clamp<int64_t>((winograd_.out_width - corner.x + winograd_.right - 1) / winograd_.right, 0,
                                tiles * m)};
  }

  /// The row of the result that row i, column j of a run's results is.
  int64_t result_of(const Run& run, int64_t i, int64_t j) const noexcept {
    return (run.corner.image * winograd_.out_height + run.corner.y + i * winograd_.down) *
               winograd_.out_width +
           run.corner.x + j * winograd_.right;
  }

  void row_epilogue(const KernelArgs& args, const Tile& tile, int64_t row, int64_t rows, const float* results,
                    float* spare) const noexcept {
    for (const int64_t some : kRowsAtATime)
      for (; rows >= some; rows -= some, row += some, results += some * tile.stride)
        finish().run(args, row, some, tile.column, tile.columns, results, tile.stride, spare);
  }

  /// The results of tile n of a run as they are defined, those beside each other together.
  void compute_plainly(const KernelArgs& args, const Tile& tile, const Run& run, int64_t n, const float* bias,
                       float* values, int64_t row_stride) const noexcept {
    const int64_t first = n * winograd_.m, wide = std::min(winograd_.m, run.wide - first),
                  together = winograd_.right == 1 ? wide : 1;
    for (int64_t i = 0; i < run.high; ++i)
      for (int64_t j = 0; j < wide; j += together)
        compute_pixels(args, tile, result_of(run, i, first + j), together, bias,
                       values + i * row_stride + j * tile.stride);
  }

  /// `count` pixels from `row` on, by gathered rows.
  void compute_pixels(const KernelArgs& args, const Tile& tile, int64_t row, int64_t count, const float* bias,
                      float* values) const noexcept {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    const int64_t c = winograd_.in_channels;
    // The rows lie in this chunk's own scratch memory, behind what was gathered.
    auto* const rows =
        reinterpret_cast<float*>(static_cast<char*>(tile.gathered) + left_.plain_rows_at(tile.rows));
    kernels::gather_rows(window_, c, row, count, 9 * c, rows, [&](int64_t pixel, int64_t n, float* to) {
      winograd_.in_places().read(x, pixel, n, to, [](const float* from, int64_t numbers, float* at) {
        std::copy_n(from, numbers, at);
      });
    });
    for (int64_t k = 0; k < tile.columns; k += kernels::kPanelColumns) {
      const auto* const panel = static_cast<const float*>(args.inputs[1]) +
                                (tile.column + k) / kernels::kPanelColumns * (matrix_.panel_bytes() / 4);
      kernels::convolve_plainly(
          winograd_, panel, kernels::kPanelColumns, matrix_.bytes() / 4,
          std::min(kernels::kPanelColumns, tile.columns - k),
          rows + (tile.column + k) / winograd_.group_outputs() * winograd_.group_inputs(), count,
          bias == nullptr ? nullptr : bias + k, values + k, tile.stride);
    }
  }

  kernels::Window window_;
  WinogradSize winograd_;
  LeftRows left_;
  kernels::PanelMatrix matrix_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kernels::kMaxPointwiseRegisters);
  r.input(0);
  const Layout layout = product_layout(r);
  const ConvProduct conv = read_conv_product(r, ConvGroups::kTaken, layout);
  if (const std::string reason = form_refusal(conv); !reason.empty()) StepReader::check(false, "{}", reason);
  const int64_t m = r.read<StepFields>().m;
  StepReader::check(m != 3, "it has tiles of 3x3");
  const WinogradSize size = size_of(conv, m, layout);
  return std::make_unique<WinogradKernel>(r, conv, size, tiles_of(size, r.plan().threads));
}

}  // namespace

constinit const TacticDef def = {
    .name = "winograd_conv",
    .summary = "3x3 convolution with stride 1, dilated or not, after Winograd, channels last or in blocks",
    .version = 12,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_winograd_conv
