#include "engine/tactics/conv/channel_window.h"

#include <limits>

#include "analysis/match.h"
#include "ops/eval_util.h"
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
  if (p.node().op_type != "ReduceMean") return true;
  const std::optional<std::vector<int64_t>> axes = ints_parameter(p.node(), "axes", 1);
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (!axes || in == nullptr || out == nullptr || in->rank() < 3 || out->size() != in->size()) return false;
  std::vector<bool> reduced(in->size());
  for (const int64_t a : *axes) reduced[static_cast<size_t>(normalize_axis(a, in->rank()))] = true;
  return !axes->empty() && !reduced[0] && !reduced[1] &&
         std::all_of(reduced.begin() + 2, reduced.end(), [](bool r) { return r; });
}

}  // namespace assay::engine
