// Convolution along one axis with stride 1 after Winograd, channels last: fewer multiplications for more
// rounding, which stays within what a plain sum of so many terms is expected to err. Infinities and NaN would
// spread over a tile, so tiles that hold some are computed as they are defined.
#include "kernels/winograd/winograd_1d.h"

#include <array>

#include "engine/runtime/arena.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/panel/panel_product.h"

namespace assay::engine::tactic_winograd_1d {
namespace {

using kernels::Winograd1d;

constexpr std::string_view kOperators[] = {"Conv"};

/// Bytes of transformed images, and of transformed sums, that stay in the second-level cache.
constexpr int64_t kLineLeftBytes = 1 << 20, kLineSumBytes = 384 << 10;
constexpr int64_t kMaxLineTiles = 96;
/// Tiles whose results are finished together, and how many rows at a time: those of one tile, a row of few
/// channels each where there are dilations, would be too few.
constexpr int64_t kFinishedTiles = 16, kFinishedRows = kFinishedTiles * Winograd1d::kResults;
constexpr std::array<int64_t, 4> kRowsAtATime = {kFinishedRows, 16, 4, 1};
/// Terms of a sum from which on its own rounding outweighs that of the transforms
/// (docs/internals/kernels.md).
constexpr int64_t kManyTerms = 96;

/// The axis that the window has its taps along, and the line; or why there is none.
std::string read_line(const ConvProduct& conv, Winograd1d& line) {
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

ProductSize product_of(const Winograd1d& line) { return {line.tiles(), line.outputs, line.depth()}; }

/// Rows of the transformed tiles lie so that those of a tile of sums do not share sets of a cache.
int64_t left_stride(const Winograd1d& line) { return line.depth() + ProductTiles::kColumns; }
int64_t left_point_stride(const Winograd1d& line, int64_t tiles) {
  return tiles * left_stride(line) + ProductTiles::kColumns;
}
/// Behind them: the marks of special tiles.
int64_t marks_at(const Winograd1d& line, int64_t tiles) {
  return Winograd1d::kPoints * left_point_stride(line, tiles) * 4;
}
int64_t sum_point_stride(int64_t tiles, int64_t columns) { return tiles * columns + ProductTiles::kColumns; }

ProductTiles tiles_of(const Winograd1d& line, int threads) {
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

Tensor pack(const UnalignedTensor& weights, const Winograd1d& line) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{Winograd1d::kPoints * line.matrix().bytes()});
  kernels::pack_line_weights(line, all.data<float>(), reinterpret_cast<float*>(packed.mutable_data()));
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  Winograd1d line;
  if (std::string reason = read_line(conv, line); !reason.empty()) return reason;
  const UnalignedTensor& weights = *p.input_constant(1);
  if (!all_finite(p, weights)) return "a weight is infinite or NaN";
  Candidate& b = proposals.add(
      {}, line.taps * line.channels >= kManyTerms ? NumericsClass::kReassociated : NumericsClass::kLowered);
  b.add_input(p.node().input(0), Layout::channels_last());
  b.add_constant(p.node().input(1)->name(), weights,
                 fmt::format("Winograd of {} taps in panels of {}", line.taps, kernels::kPanelColumns),
                 [weights, line] { return pack(weights, line); });
  const kernels::PanelMatrix matrix = line.matrix();
  add_padded_bias(p.node().input(2), 1, matrix.filled_columns(), b);
  b.add_output(p.region().output(), Layout::channels_last());
  b.write(conv_fields(conv));
  b.step.scratch_bytes = tiles_of(line, p.config().threads).scratch_bytes();
  b.estimate = estimate_with_weights(2.0 * Winograd1d::kPoints * static_cast<double>(line.tiles()) *
                                         static_cast<double>(line.depth()) *
                                         static_cast<double>(matrix.filled_columns()),
                                     static_cast<double>(Winograd1d::kPoints * matrix.bytes()), 0.45);
  write_tile_epilogue(p, p.region().epilogue, Layout::channels_last(), b);
  return {};
}

class LineKernel final : public TiledProduct {
 public:
  LineKernel(const StepReader& r, const ProductSize& result, const Winograd1d& line,
             const ProductTiles& tiles)
      : TiledProduct(r, product_of(line), tiles, TileEpilogue(r, 3, result, kRowsAtATime, tiles.columns)),
        line_(line),
        matrix_(line.matrix()) {
    r.product({Winograd1d::kPoints, matrix_.k, matrix_.panels(), kernels::kPanelColumns * 4});
    r.check_elements(r.row_input(1, DType::kUInt8), {Winograd1d::kPoints, matrix_.bytes()});
    r.optional_elements(2, {matrix_.panels(), kernels::kPanelColumns});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override {
    kernels::transform_line_inputs(line_, static_cast<const float*>(args.inputs[0]), first, count,
                                   static_cast<float*>(scratch), left_stride(line_),
                                   left_point_stride(line_, count),
                                   static_cast<uint8_t*>(scratch) + marks_at(line_, count));
    return scratch;
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    constexpr int64_t kColumns = kernels::kPanelColumns;
    const auto* const weights = static_cast<const float*>(args.inputs[1]);
    const int64_t point_stride = sum_point_stride(tile.rows, tile.stride), panel = tile.column / kColumns,
                  panels = (tile.columns + kColumns - 1) / kColumns;
    auto* const sums = static_cast<float*>(tile.sums);
    for (int64_t p = 0; p < Winograd1d::kPoints; ++p)
      kernels::panel_product_in_parts(
          matrix_, weights + p * (matrix_.bytes() / 4), panel, panels,
          static_cast<const float*>(tile.left) + p * left_point_stride(line_, tile.rows), left_stride(line_),
          tile.rows, sums + p * point_stride, tile.stride);
    const float* const bias =
        args.inputs[2] == nullptr ? nullptr : static_cast<const float*>(args.inputs[2]) + tile.column;
    auto* const results = static_cast<float*>(tile.spare);
    const auto* const special = static_cast<const uint8_t*>(tile.left) + marks_at(line_, tile.rows);
    for (int64_t t = 0; t < tile.rows;) {
      const Batch batch = batch_at(tile.row + t, tile.rows - t);
      for (int64_t n = 0; n < batch.tiles; ++n) {
        // Result i of all that begin side by side comes before result i + 1 of the first of them.
        const int64_t step = batch.beside * tile.stride;
        float* const own =
            results + n / batch.beside * Winograd1d::kResults * step + n % batch.beside * tile.stride;
        if (special[t + n] == 0) {
          kernels::transform_line_outputs(sums + (t + n) * tile.stride, point_stride, panels * kColumns, bias,
                                          own, step);
          continue;
        }
        const Winograd1d::Start start = line_.start(tile.row + t + n);
        for (int64_t i = 0; i < line_.results(start); ++i)
          for (int64_t k = 0; k < panels; ++k)
            kernels::convolve_line_plainly(
                line_, weights, panel + k, static_cast<const float*>(args.inputs[0]), start, i,
                bias == nullptr ? nullptr : bias + k * kColumns, own + i * step + k * kColumns);
      }
      epilogue_batch(args, tile, tile.row + t, batch, results);
      t += batch.tiles;
    }
  }

  /// Tiles that follow each other, `beside` of which begin side by side.
  struct Batch {
    int64_t tiles, beside;
  };

  /// All that begin side by side, as often as they fit, or some of them.
  Batch batch_at(int64_t first, int64_t most) const noexcept {
    const int64_t beside = line_.beside(), place = first % beside;
    const int64_t some = std::min({beside - place, most, kFinishedTiles});
    if (some < beside) return {some, some};
    const int64_t number = first / beside % line_.tiles_of_line();
    return {beside * std::min({kFinishedTiles / beside, most / beside, line_.tiles_of_line() - number}),
            beside};
  }

  void epilogue_batch(const KernelArgs& args, const Tile& tile, int64_t first, const Batch& batch,
                      const float* results) const noexcept {
    const Winograd1d::Start start = line_.start(first);
    if (batch.beside == line_.beside() && line_.leaves_no_gaps()) {
      int64_t rows = 0;
      for (int64_t n = 0; n < batch.tiles; ++n) rows += line_.results(line_.start(first + n));
      row_epilogue(args, tile, line_.result(start, 0), rows, results);
      return;
    }
    for (int64_t i = 0; i < Winograd1d::kResults; ++i) {
      int64_t rows = 0;
      while (rows < batch.beside && line_.results(line_.start(first + rows)) > i) ++rows;
      row_epilogue(args, tile, line_.result(start, i), rows, results + i * batch.beside * tile.stride);
    }
  }

  void row_epilogue(const KernelArgs& args, const Tile& tile, int64_t row, int64_t rows,
                    const float* results) const noexcept {
    float* const spare = static_cast<float*>(tile.spare) + kFinishedRows * tile.stride;
    for (const int64_t some : kRowsAtATime)
      for (; rows >= some; rows -= some, row += some, results += some * tile.stride)
        finish().run(args, row, some, tile.column, tile.columns, results, tile.stride, spare);
  }

  Winograd1d line_;
  kernels::PanelMatrix matrix_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  r.input(0);
  const ConvProduct conv = read_conv_product(r);
  Winograd1d line;
  if (const std::string reason = read_line(conv, line); !reason.empty())
    StepReader::check(false, "{}", reason);
  return std::make_unique<LineKernel>(r, conv.size, line, tiles_of(line, r.plan().threads));
}

}  // namespace

constinit const TacticDef def = {
    .name = "winograd_1d",
    .summary = "convolution along one axis with stride 1, dilated or not, after Winograd, channels last",
    .version = 5,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_winograd_1d
