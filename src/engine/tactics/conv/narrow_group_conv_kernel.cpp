#include "engine/tactics/conv/narrow_group_conv_kernel.h"

namespace assay::engine::tactic_narrow_group_conv {
namespace {

class LaneKernel final : public TiledProduct {
 public:
  LaneKernel(const StepReader& r, ConvProduct conv, const ProductTiles& tiles)
      : TiledProduct(r, conv.size, tiles, TileEpilogue(r, 3, conv.size, tiles)),
        lanes_(lanes_of(conv)),
        window_(std::move(conv.window)) {
    const size_t last = window_.rank() - 1;
    if (window_.kernel[last] == 3 && window_.strides[last] == 1 && window_.dilations[last] == 1)
      line_ = window_.out[last];
    r.product({lanes_.taps, lanes_.inputs, conv.size.n + kernels::kNarrowGroupBlock * lanes_.groups});
    r.check_elements(r.row_input(1), {lanes_.packed_floats()});
    r.optional_elements(2, {kernels::narrow_group_bias_floats(lanes_)});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    auto* const padding = reinterpret_cast<float*>(static_cast<char*>(scratch) + padding_at(lanes_, count));
    const int64_t channels = lanes_.in_channels();
    std::fill_n(padding, channels, 0.0F);
    auto* const pixels = static_cast<const float**>(scratch);
    const size_t last = window_.rank() - 1;
    const int64_t length = window_.out[last], step = window_.strides[last];
    const auto pixels_before = [step](int64_t distance) {
      return distance <= 0 ? 0 : (distance + step - 1) / step;
    };
    for (int64_t row = 0; row < count;) {  // line by line of the result
      const int64_t some = std::min(count - row, length - (first + row) % length);
      const kernels::Positions position(window_, first + row);
      kernels::for_tap_rows(window_, position, [&](int64_t tap, int64_t element) {
        for (int64_t t = 0; t < window_.kernel[last]; ++t) {
          const int64_t at = position.start(last) + t * window_.dilations[last];
          const int64_t inside = element < 0 ? some : std::min(some, pixels_before(-at)),
                        behind = std::clamp(pixels_before(window_.in[last] - at), inside, some);
          const float** const to = pixels + (tap + t) * count + row;
          std::fill(to, to + inside, padding);
          for (int64_t i = inside; i < behind; ++i) to[i] = x + (element + at + i * step) * channels;
          std::fill(to + behind, to + some, padding);
        }
      });
      row += some;
    }
    return scratch;
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const bool direct = finish().is_plain();
    auto* const sums = direct ? reinterpret_cast<float*>(finish().result(args, tile.row, tile.column))
                              : static_cast<float*>(tile.sums);
    const int64_t stride = direct ? size().n : tile.stride;
    kernels::narrow_group_products(lanes_, static_cast<const float*>(args.inputs[1]),
                                   static_cast<const float* const*>(tile.left), tile.rows, tile.column,
                                   tile.columns, static_cast<const float*>(args.inputs[2]), sums, stride,
                                   {line_, line_ == 0 ? 0 : tile.row % line_});
    if (!direct) finish().run(args, tile.row, tile.rows, tile.column, tile.columns, sums, stride, tile.spare);
  }

  NarrowGroupConv lanes_;
  kernels::Window window_;
  int64_t line_ = 0;  ///< pixels of a line of the result, where each sees three neighbours of a line; else 0
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  r.input(0);
  ConvProduct conv = read_conv_product(r, ConvGroups::kTaken);
  StepReader::check(!conv.is_depthwise && conv.groups > 1, "it has no groups of several channels");
  const ProductTiles tiles = tiles_of(conv, plan.threads);
  return std::make_unique<LaneKernel>(r, std::move(conv), tiles);
}

}  // namespace assay::engine::tactic_narrow_group_conv
