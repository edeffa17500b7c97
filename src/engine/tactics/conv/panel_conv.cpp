// Convolution as a product of gathered rows with panels of weights in 32 or 16 bits, channels last or in
// blocks of them.
#include "engine/tactics/conv/panel_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_panel_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

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

}  // namespace

constinit const TacticDef def = {
    .name = "panel_conv",
    .summary = "convolution as a product with panels of weights in 32 or 16 bits, channels last or in blocks",
    .version = 11,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_panel_conv
