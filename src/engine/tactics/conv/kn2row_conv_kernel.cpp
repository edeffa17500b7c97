#include "engine/tactics/conv/kn2row_conv_kernel.h"

namespace assay::engine::tactic_kn2row_conv {
namespace {

class TapKernel final : public TiledProduct {
 public:
  TapKernel(const StepReader& r, TapProduct product, const ProductTiles& tiles)
      : TiledProduct(
            r, product.parts(), tiles,
            TileEpilogue(r, 3, product.size, std::array{product.part(), product.last_part()}, tiles.columns)),
        product_(std::move(product)),
        matrix_(product_.matrix()) {
    r.product({matrix_.k, matrix_.panels(), kernels::kPanelColumns * 4});
    r.check_elements(r.row_input(1, DType::kUInt8), {matrix_.bytes()});
    r.optional_elements(2, {matrix_.panels(), kernels::kPanelColumns});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t, int64_t, void*) const noexcept override {
    return args.inputs[0];
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const int64_t in_row = product_.parts_of_row(), part = product_.part();
    std::array<kernels::Kn2rowPart, kernels::kMaxKn2rowParts> parts;
    for (int64_t p = 0; p < tile.rows; ++p) {
      const int64_t number = tile.row + p, of_row = number % in_row;
      parts[static_cast<size_t>(p)] = {number / in_row, of_row * part,
                                       of_row + 1 < in_row ? part : product_.last_part()};
    }
    const float* const bias =
        args.inputs[2] == nullptr ? nullptr : static_cast<const float*>(args.inputs[2]) + tile.column;
    auto* const sums = static_cast<float*>(tile.sums);
    kernels::kn2row_products(product_.conv, matrix_, static_cast<const float*>(args.inputs[1]),
                             tile.column / kernels::kPanelColumns,
                             (tile.columns + kernels::kPanelColumns - 1) / kernels::kPanelColumns,
                             static_cast<const float*>(args.inputs[0]), parts.data(), tile.rows, bias, sums,
                             part * tile.stride, tile.stride);
    for (int64_t p = 0; p < tile.rows; ++p) {
      const kernels::Kn2rowPart& at = parts[static_cast<size_t>(p)];
      finish().run(args, at.row * product_.row() + at.first, at.count, tile.column, tile.columns,
                   sums + p * part * tile.stride, tile.stride, tile.spare);
    }
  }

  TapProduct product_;
  kernels::PanelMatrix matrix_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  r.input(0);
  ConvProduct conv = read_conv_product(r);
  StepReader::check(!conv.is_depthwise, "its channels have groups of their own");
  const bool transposed = r.read<StepFields>().transposed;
  if (transposed) std::swap(conv.window.in, conv.window.out);
  TapProduct product{{std::move(conv.window), transposed, conv.in_channels}, conv.size};
  const ProductTiles tiles = tiles_of(product, plan.threads);
  return std::make_unique<TapKernel>(r, std::move(product), tiles);
}

}  // namespace assay::engine::tactic_kn2row_conv
