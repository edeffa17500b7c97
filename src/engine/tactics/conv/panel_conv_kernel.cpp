#include "engine/tactics/conv/panel_conv_kernel.h"

#include "kernels/panel/bfloat16_rows.h"

namespace assay::engine::tactic_panel_conv {

PanelKernel::Gather row_gather(const std::shared_ptr<const kernels::Window>& window,
                               const kernels::ImagePlaces& places, int64_t k) {
  if (is_pointwise(*window)) return {};
  return [window, places, k](const float* x, int64_t first, int64_t count, float* rows) {
    kernels::gather_rows(
        *window, places.channels, first, count, k, rows, [&](int64_t pixel, int64_t n, float* to) {
          places.read(x, pixel, n, to,
                      [](const float* from, int64_t numbers, float* at) { std::copy_n(from, numbers, at); });
        });
  };
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  const DType type = left_type(r);
  r.input(0, type);
  const Layout layout = product_layout(r);
  ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout);
  StepReader::check(!conv.is_depthwise, "its channels have groups of their own");
  const auto window = std::make_shared<const kernels::Window>(std::move(conv.window));
  const int64_t c = conv.in_channels, k = conv.size.k;
  const kernels::ImagePlaces places{c, window->in_size(), layout.is_blocked() ? layout.block : c};
  PanelKernel::Gather gather = row_gather(window, places, k);
  const auto round = [window, places, c, k](const void* x, int64_t first, int64_t count, uint16_t* rows) {
    kernels::gather_rows(*window, c, first, count, k + k % 2, rows,
                         [&](int64_t pixel, int64_t n, uint16_t* to) {
                           places.read(static_cast<const float*>(x), pixel, n, to,
                                       [](const float* from, int64_t numbers, uint16_t* at) {
                                         kernels::round_to_bfloat16(from, at, static_cast<size_t>(numbers));
                                       });
                         });
  };
  const auto copy = [window, c, k](const void* x, int64_t first, int64_t count, uint16_t* rows) {
    kernels::gather_rows(*window, c, first, count, k + k % 2, rows,
                         [&](int64_t pixel, int64_t n, uint16_t* to) {
                           std::copy_n(static_cast<const uint16_t*>(x) + pixel * c, n * c, to);
                         });
  };
  StepReader::check(type == DType::kFloat32 || !layout.is_blocked(), "its blocks are of {}",
                    dtype_name(type));
  const PanelKernel::NarrowGather narrow_gather =
      type == DType::kBFloat16 ? PanelKernel::NarrowGather(copy) : PanelKernel::NarrowGather(round);
  return std::make_unique<PanelKernel>(r, conv.size, places, std::move(gather), narrow_gather);
}

}  // namespace assay::engine::tactic_panel_conv
