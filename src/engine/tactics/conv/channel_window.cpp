#include "engine/tactics/conv/channel_window.h"

#include <limits>

#include "analysis/averages.h"
#include "ops/nn/window.h"

namespace assay::engine {

std::vector<Layout> window_layouts(const Problem& p, const Shape& shape) {
  std::vector<Layout> layouts = {Layout::channels_last()};
  for (const Layout layout : p.layouts(DType::kFloat32, shape))
    if (layout == kChannelBlocks) layouts.push_back(layout);
  return layouts;
}

std::string common_epilogue_refusal(const Problem& p, const ConvProduct& conv) {
  if (std::string reason = row_epilogue_refusal(p, p.region().epilogue); !reason.empty()) return reason;
  // Whichever layout: it says which operands are wanted in it.
  const EpilogueSpec spec = epilogue_spec(p, p.region().epilogue, Layout::channels_last(), 3);
  const std::optional<CommonEnd> end = common_epilogue(spec, conv.size.m, conv.size.n);
  if (!end) return "what follows is no end that it has";
  for (const EpilogueSpec::Entry& e : spec.entries)
    if (e.position >= 0 && e.position == end->addend && e.format.layout.is_row())
      return "an operand has fewer axes than the result";
  return {};
}

void write_common_end(const Problem& p, Layout layout, Candidate& b) {
  EpilogueSpec spec = epilogue_spec(p, p.region().epilogue, layout, 3);
  for (EpilogueSpec::Entry& e : spec.entries) e.may_accumulate = false;
  write_epilogue(p.region().epilogue, spec, b);
}

kernels::Window pooled_window(const Problem& p) {
  const Shape spatial = spatial_shape(*p.input_shape(0));
  if (!p.node().op_type.starts_with("Global") && p.node().op_type != "ReduceMean")
    return read_window(p.attributes(), spatial.size()).over(spatial);
  const std::vector<int64_t> ones(spatial.size(), 1), zeros(spatial.size(), 0);
  return {.in = spatial.dims(),
          .out = ones,
          .kernel = spatial.dims(),
          .strides = ones,
          .dilations = ones,
          .begin = zeros,
          .end = zeros};
}

bool reduces_images(const Problem& p) {
  return p.node().op_type != "ReduceMean" || averages_pixels(p.node(), p.model());
}

bool keeps_axes(const Problem& p) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  return in != nullptr && out != nullptr && out->size() == in->size();
}

}  // namespace assay::engine
