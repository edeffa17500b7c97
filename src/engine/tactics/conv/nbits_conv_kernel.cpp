#include "engine/tactics/conv/nbits_conv_kernel.h"

#include "engine/tactics/conv/panel_conv_kernel.h"

namespace assay::engine::tactic_nbits_conv {
namespace {

using kernels::kPanelColumns;

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

class NbitsConvKernel final : public RowProduct {
 public:
  NbitsConvKernel(const StepReader& r, tactic_panel_conv::GatheredConv conv)
      : NbitsConvKernel(r, conv,
                        tiles_of(conv.size, conv.gathers.wide != nullptr, r.read<PanelFields>().rounds,
                                 r.plan().threads)) {}

 private:
  NbitsConvKernel(const StepReader& r, tactic_panel_conv::GatheredConv& conv, const ProductTiles& tiles)
      : RowProduct(r, kEpilogue, conv.size, tiles, conv.gathers),
        weights_(read_weights(r, conv.size)),
        left_bytes_(panel_left_bytes(conv.size, tiles, rounds())) {}

  static int64_t panel_left_bytes(const ProductSize& size, const ProductTiles& tiles, bool rounds) {
    return rounds ? tiles.rows * narrow_length(size.k) * 2 : 0;
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    kernels::NbitsPanels w = weights_;
    w.levels = static_cast<const uint8_t*>(args.inputs[kLevels]);
    w.scales = static_cast<const float*>(args.inputs[kScales]);
    w.zero_points = static_cast<const uint8_t*>(args.inputs[kZeros]);
    const float* const bias = static_cast<const float*>(args.inputs[kBias]);
    const Sums sums = sums_of(args, tile);
    const int64_t group = rounds() ? kNarrowPanels : kernels::kPanelGroup,
                  panels = ceil_div(tile.columns, kPanelColumns);
    for (int64_t p = 0; p < panels; p += group) {
      const Part part{tile.column / kPanelColumns + p, std::min(group, panels - p),
                      bias == nullptr ? nullptr : bias + tile.column + p * kPanelColumns,
                      sums.first + p * kPanelColumns, sums.stride};
      rounds() ? multiply_narrow(w, tile, part) : multiply(w, tile, part);
    }
    finish_sums(args, tile, sums);
  }

  /// Panels of a tile, and their sums.
  struct Part {
    int64_t panel, count;
    const float* bias;
    float* sums;
    int64_t stride;
  };

  void multiply(const kernels::NbitsPanels& w, const Tile& tile, const Part& part) const noexcept {
    alignas(64) float expanded[kDepth * kernels::kPanelGroup * kPanelColumns];
    for (int64_t k = 0; k < w.k; k += kDepth) {
      const int64_t depth = std::min(kDepth, w.k - k);
      kernels::expand_panels(w, part.panel, part.count, k, depth, expanded);
      const kernels::PanelBlock block{expanded, depth * kPanelColumns, part.count, depth};
      for_rows(tile, [&](kernels::PanelRows a, int64_t row, int64_t rows) {
        a.first += a.run == 0 ? k : k / a.run * a.distance;
        float* const to = part.sums + row * part.stride;
        kernels::panel_block_product(block, a, rows, k > 0 ? to : part.bias, k > 0 ? part.stride : 0, to,
                                     part.stride);
      });
    }
  }

  void multiply_narrow(const kernels::NbitsPanels& w, const Tile& tile, const Part& part) const noexcept {
    auto* const expanded = reinterpret_cast<uint16_t*>(static_cast<char*>(tile.gathered) +
                                                       align_up(static_cast<size_t>(left_bytes_)));
    kernels::expand_bfloat16_panels(w, part.panel, part.count, expanded);
    kernels::bfloat16_product({part.count * kPanelColumns, w.k, DType::kBFloat16}, expanded, 0, part.count,
                              static_cast<const uint16_t*>(tile.left), narrow_length(w.k), tile.rows,
                              part.bias, part.sums, part.stride);
  }

  kernels::NbitsPanels weights_;
  int64_t left_bytes_;  ///< of gathered rows in bfloat16
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, kEpilogue, kernels::kMaxPointwiseRegisters);
  return std::make_unique<NbitsConvKernel>(r, tactic_panel_conv::read_gathered_conv(r));
}

}  // namespace assay::engine::tactic_nbits_conv
