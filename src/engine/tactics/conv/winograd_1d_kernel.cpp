#include "engine/tactics/conv/winograd_1d_kernel.h"

namespace assay::engine::tactic_winograd_1d {
namespace {

constexpr std::array<int64_t, 4> kRowsAtATime = {kFinishedRows, 16, 4, 1};

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  r.input(0);
  const ConvProduct conv = read_conv_product(r);
  Winograd1d line;
  if (const std::string reason = read_line(conv, line); !reason.empty())
    StepReader::check(false, "{}", reason);
  return std::make_unique<LineKernel>(r, conv.size, line, tiles_of(line, r.plan().threads));
}

}  // namespace assay::engine::tactic_winograd_1d
