#include "engine/tactics/conv/nbits_conv_kernel.h"

#include "engine/tactics/conv/panel_conv_kernel.h"

namespace assay::engine::tactic_nbits_conv {
namespace {

enum Input : size_t { kImages, kLevels, kScales, kZeros, kBias, kEpilogue };

/// Rows of weights that become float32 at a time, as many of them as a first-level cache holds.
constexpr int64_t kDepth = 128;

kernels::NbitsPanels read_weights(const StepReader& r, const ProductSize& size) {
  const auto p = r.read<StepFields>();
  const kernels::NbitsPanels w{.n = size.n, .k = size.k, .bits = p.bits, .grid = p.grid};
  StepReader::check(w.bits == 2 || w.bits == 4 || w.bits == 8, "it has {} bits", w.bits);
  const kernels::NbitsGrid& g = w.grid;
  StepReader::check(g.part <= w.k && w.k % g.part == 0 && g.rows <= g.part && g.columns <= w.n,
                    "{} rows and {} columns have no blocks of {} rows in {} by {}", w.k, w.n, g.rows, g.part,
                    g.columns);
  StepReader::product({w.k, w.filled_columns(), static_cast<int64_t>(sizeof(float))});
  r.check_elements(r.row_input(kLevels, DType::kUInt8), {w.panels(), w.panel_bytes()});
  r.check_elements(r.row_input(kScales), {w.scale_elements()});
  if (r.has_input(kZeros)) r.check_elements(r.row_input(kZeros, DType::kUInt8), {w.scale_elements()});
  r.optional_elements(kBias, {w.filled_columns()});
  return w;
}

class NbitsConvKernel final : public TiledProduct {
 public:
  NbitsConvKernel(const StepReader& r, const ProductSize& size, const kernels::ImagePlaces& lying,
                  PanelKernel::Gather gather)
      : NbitsConvKernel(r, size, panel_tiles(size, gather != nullptr, false, r.plan().threads), lying,
                        gather) {}

 private:
  /// Takes the last.
  NbitsConvKernel(const StepReader& r, const ProductSize& size, const ProductTiles& tiles,
                  const kernels::ImagePlaces& lying, PanelKernel::Gather& gather)
      : TiledProduct(r, size, tiles, TileEpilogue(r, kEpilogue, size, tiles)),
        weights_(read_weights(r, size)),
        lying_(lying),
        gather_(std::move(gather)) {}

  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override {
    if (!gather_) return args.inputs[kImages];
    gather_(static_cast<const float*>(args.inputs[kImages]), first, count, static_cast<float*>(scratch));
    return scratch;
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const bool direct =
        finish().is_plain() && finish().has_rows() && tile.columns % kernels::kPanelColumns == 0;
    auto* const sums = direct ? reinterpret_cast<float*>(finish().result(args, tile.row, tile.column))
                              : static_cast<float*>(tile.sums);
    const int64_t stride = direct ? size().n : tile.stride;
    for (int64_t c = 0; c < tile.columns; c += kernels::kPanelGroup * kernels::kPanelColumns)
      multiply(args, tile, c, sums + c, stride);
    if (!direct) finish().run(args, tile.row, tile.rows, tile.column, tile.columns, sums, stride, tile.spare);
  }

  /// The sums of a group of panels, whose columns begin at number `column` of the tile's.
  void multiply(const KernelArgs& args, const Tile& tile, int64_t column, float* sums,
                int64_t stride) const noexcept {
    using kernels::kPanelColumns;
    alignas(64) float expanded[kDepth * kernels::kPanelGroup * kPanelColumns];
    kernels::NbitsPanels w = weights_;
    w.levels = static_cast<const uint8_t*>(args.inputs[kLevels]);
    w.scales = static_cast<const float*>(args.inputs[kScales]);
    w.zero_points = static_cast<const uint8_t*>(args.inputs[kZeros]);
    const float* const bias = static_cast<const float*>(args.inputs[kBias]);
    const int64_t first = tile.column + column,
                  panels = std::min(kernels::kPanelGroup, ceil_div(tile.columns - column, kPanelColumns));
    for (int64_t k = 0; k < w.k; k += kDepth) {
      const int64_t depth = std::min(kDepth, w.k - k);
      kernels::expand_panels(w, first / kPanelColumns, panels, k, depth, expanded);
      const kernels::PanelBlock block{expanded, depth * kPanelColumns, panels, depth};
      for_tile_rows(tile, w.k, gather_ != nullptr, lying_,
                    [&](kernels::PanelRows a, int64_t row, int64_t rows) {
                      a.first += a.run == 0 ? k : k / a.run * a.distance;
                      float* const to = sums + row * stride;
                      const float* const start = k > 0 ? to : bias == nullptr ? nullptr : bias + first;
                      kernels::panel_block_product(block, a, rows, start, k > 0 ? stride : 0, to, stride);
                    });
    }
  }

  kernels::NbitsPanels weights_;
  kernels::ImagePlaces lying_;
  PanelKernel::Gather gather_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, kEpilogue, kernels::kMaxPointwiseRegisters);
  const Layout layout = product_layout(r);
  ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout);
  StepReader::check(!conv.is_depthwise, "its channels have groups of their own");
  const auto window = std::make_shared<const kernels::Window>(std::move(conv.window));
  const kernels::ImagePlaces places{conv.in_channels, window->in_size(),
                                    layout.is_blocked() ? layout.block : conv.in_channels};
  return std::make_unique<NbitsConvKernel>(r, conv.size, places,
                                           tactic_panel_conv::row_gather(window, places, conv.size.k));
}

}  // namespace assay::engine::tactic_nbits_conv
