#include "engine/tactics/conv/panel_conv_kernel.h"

#include "kernels/panel/bfloat16_rows.h"

namespace assay::engine::tactic_panel_conv {
namespace {

using SharedWindow = std::shared_ptr<const kernels::Window>;

/// Rows in bfloat16, with a 0 behind an odd k: copy(pixel, n, to) gives the channels of n pixels.
template <typename Copy>
void gather_narrow(const kernels::Window& window, int64_t channels, int64_t first, int64_t count,
                   uint16_t* rows, Copy copy) {
  const int64_t k = channels * window.taps();
  kernels::gather_rows(window, channels, first, count, narrow_length(k), rows, copy);
}

RowProduct::Gather wide_gather(const SharedWindow& window, const kernels::ImagePlaces& places) {
  if (is_pointwise(*window)) return {};
  return [window, places](const float* x, int64_t first, int64_t count, float* rows) {
    kernels::gather_rows(*window, places.channels, first, count, places.channels * window->taps(), rows,
                         [&](int64_t pixel, int64_t n, float* to) {
                           places.read(x, pixel, n, to, [](const float* from, int64_t numbers, float* at) {
                             std::copy_n(from, numbers, at);
                           });
                         });
  };
}

RowProduct::NarrowGather rounding_gather(const SharedWindow& window, const kernels::ImagePlaces& places) {
  return [window, places](const void* x, int64_t first, int64_t count, uint16_t* rows) {
    gather_narrow(*window, places.channels, first, count, rows, [&](int64_t pixel, int64_t n, uint16_t* to) {
      places.read(static_cast<const float*>(x), pixel, n, to,
                  [](const float* from, int64_t numbers, uint16_t* at) {
                    kernels::round_to_bfloat16(from, at, static_cast<size_t>(numbers));
                  });
    });
  };
}

RowProduct::NarrowGather copying_gather(const SharedWindow& window, int64_t channels) {
  return [window, channels](const void* x, int64_t first, int64_t count, uint16_t* rows) {
    gather_narrow(*window, channels, first, count, rows, [&](int64_t pixel, int64_t n, uint16_t* to) {
      std::copy_n(static_cast<const uint16_t*>(x) + pixel * channels, n * channels, to);
    });
  };
}

}  // namespace

GatheredConv read_gathered_conv(const StepReader& r) {
  const DType type = left_type(r);
  r.input(0, type);
  const Layout layout = product_layout(r);
  ConvProduct conv = read_conv_product(r, ConvGroups::kRefused, layout);
  StepReader::check(!conv.is_depthwise, "its channels have groups of their own");
  StepReader::check(type == DType::kFloat32 || !layout.is_blocked(), "its blocks are of {}",
                    dtype_name(type));
  const auto window = std::make_shared<const kernels::Window>(std::move(conv.window));
  const int64_t c = conv.in_channels;
  const kernels::ImagePlaces places{c, window->in_size(), layout.is_blocked() ? layout.block : c};
  return {conv.size,
          {places, wide_gather(window, places),
           type == DType::kBFloat16 ? copying_gather(window, c) : rounding_gather(window, places)}};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  GatheredConv conv = read_gathered_conv(r);
  return std::make_unique<PanelKernel>(r, conv.size, std::move(conv.gathers));
}

}  // namespace assay::engine::tactic_panel_conv
