#include "engine/tactics/conv/winograd_conv_kernel.h"

#include "base/parallel.h"
#include "kernels/convert/convert.h"

namespace assay::engine::tactic_winograd_conv {
namespace {

/// Results of tiles side by side that are finished together, m rows of them: they stay in a first-level
/// cache. And how many of a row at a time.
constexpr int64_t kFinishedPixels = 64;
constexpr std::array<int64_t, 6> kRowsAtATime = {32, 16, 4, 3, 2, 1};

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
        winograd_, args.inputs[0], first, count, {channel, channels},
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
    const int64_t c = winograd_.in_channels;
    // The rows lie in this chunk's own scratch memory, behind what was gathered.
    auto* const rows =
        reinterpret_cast<float*>(static_cast<char*>(tile.gathered) + left_.plain_rows_at(tile.rows));
    kernels::gather_rows(window_, c, row, count, 9 * c, rows, [&](int64_t pixel, int64_t n, float* to) {
      if (winograd_.is_narrow)
        return kernels::widen_row(DType::kBFloat16, static_cast<const uint16_t*>(args.inputs[0]) + pixel * c,
                                  to, static_cast<size_t>(n * c));
      winograd_.in_places().read(
          static_cast<const float*>(args.inputs[0]), pixel, n, to,
          [](const float* from, int64_t numbers, float* at) { std::copy_n(from, numbers, at); });
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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 3, kernels::kMaxPointwiseRegisters);
  const bool is_narrow = r.any_input(0).dtype == DType::kBFloat16;
  r.input(0, is_narrow ? DType::kBFloat16 : DType::kFloat32);
  const Layout layout = product_layout(r);
  StepReader::check(!is_narrow || !layout.is_blocked(), "its blocks are of bfloat16");
  const ConvProduct conv = read_conv_product(r, ConvGroups::kTaken, layout);
  if (const std::string reason = form_refusal(conv); !reason.empty()) StepReader::check(false, "{}", reason);
  const int64_t m = r.read<StepFields>().m;
  StepReader::check(m != 3, "it has tiles of 3x3");
  WinogradSize size = size_of(conv, m, layout);
  size.is_narrow = is_narrow;
  return std::make_unique<WinogradKernel>(r, conv, size, tiles_of(size, r.plan().threads));
}

}  // namespace assay::engine::tactic_winograd_conv
