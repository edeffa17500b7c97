// Convolution as a product of gathered rows with panels of weights in 32 or 16 bits, channels last or in
// blocks of them.
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/convert/convert.h"
#include "kernels/image_rows.h"

namespace assay::engine::tactic_panel_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

/// The rows are the image's pixels as they lie in memory.
bool is_pointwise(const kernels::Window& w) {
  for (size_t a = 0; a < w.rank(); ++a)
    if (w.kernel[a] != 1 || w.strides[a] != 1 || w.begin[a] != 0 || w.out[a] != w.in[a]) return false;
  return true;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (conv.is_depthwise) return "every channel has a group of its own";
  const int64_t taps = conv.window.taps(), inputs = conv.in_channels;
  PanelSource source{.weights = p.node().input(1),
                     .row_stride = 1,
                     .column_stride = conv.size.k,
                     .packing = fmt::format("{} x {} taps", inputs, taps),
                     .arrange = {},
                     .bias = p.node().input(2)};
  if (taps > 1 && inputs > 1)
    source.arrange = [outputs = conv.size.n, inputs, taps](const float* w) {
      return taps_first(w, outputs, inputs, taps);
    };
  for (const Layout layout : product_layouts(p, conv))
    propose_panels(
        p, p.node().input(0), source, conv.size, !is_pointwise(conv.window), p.region().epilogue, layout, 0.6,
        [&](Candidate& b) { b.write(conv_fields(conv)); }, proposals);
  return {};
}

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
                kernels::narrow_row(kernels::NarrowType::kBfloat16, from, at, static_cast<size_t>(numbers));
              });
            });
      });
}

}  // namespace

constinit const TacticDef def = {
    .name = "panel_conv",
    .summary = "convolution as a product with panels of weights in 32 or 16 bits, channels last or in blocks",
    .version = 10,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_panel_conv
