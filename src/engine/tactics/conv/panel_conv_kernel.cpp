#include "engine/tactics/conv/panel_conv_kernel.h"

namespace assay::engine::tactic_panel_conv {

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  r.input(0);
  const Layout layout = product_layout(r);
  ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout);
  StepReader::check(!conv.is_depthwise, "its channels have groups of their own");
  const auto window = std::make_shared<const kernels::Window>(std::move(conv.window));
  const int64_t c = conv.in_channels, k = conv.size.k;
  const kernels::ImagePlaces places{c, window->in_size(), layout.is_blocked() ? layout.block : c};
  PanelKernel::Gather gather;
  if (!is_pointwise(*window))
    gather = [window, places, c, k](const float* x, int64_t first, int64_t count, float* rows) {
      kernels::gather_rows(*window, c, first, count, k, rows, [&](int64_t pixel, int64_t n, float* to) {
        places.read(x, pixel, n, to,
                    [](const float* from, int64_t numbers, float* at) { std::copy_n(from, numbers, at); });
      });
    };
  return std::make_unique<PanelKernel>(
      r, conv.size, places, std::move(gather),
      [window, places, c, k](const float* x, int64_t first, int64_t count, uint16_t* rows) {
        kernels::gather_rows(
            *window, c, first, count, k + k % 2, rows, [&](int64_t pixel, int64_t n, uint16_t* to) {
              places.read(x, pixel, n, to, [](const float* from, int64_t numbers, uint16_t* at) {
                kernels::narrow_row(DType::kBFloat16, from, at, static_cast<size_t>(numbers));
              });
            });
      });
}

}  // namespace assay::engine::tactic_panel_conv
