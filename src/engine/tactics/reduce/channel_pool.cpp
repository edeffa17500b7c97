// Pooling of images with channels last or in blocks of channels, in vectors of channels.
#include <algorithm>

#include "analysis/quantization.h"
#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/reduce/channel_pool_kernel.h"
#include "engine/tactics/tactic.h"
#include "engine/tactics/tactic_list.h"
#include "ops/node_facts.h"

namespace assay::engine::tactic_channel_pool {
namespace {

/// ReduceMean, too: over the whole image of every channel.
bool serves(const OpFacts& facts) {
  return facts.pool != PoolFact::kNone || facts.reduction.kernel == kernels::Reduction::kMean;
}

PoolKind kind_of(const Problem& p) {
  if (facts_of(p.node(), p.model()).pool == PoolFact::kLargest) return PoolKind::kMax;
  const bool counts =
      p.node().op_type == "AveragePool" && p.attributes().attr_int("count_include_pad", 0) != 0;
  return counts ? PoolKind::kAverageWithPads : PoolKind::kAverage;
}

std::string supports(const Problem& p) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (in->rank() < 3 || in->rank() > 4) return "only one or two spatial axes are supported";
  if (out->numel() == 0 || in->numel() == 0) return "the input or the result is empty";
  if (!reduces_images(p)) return "what is reduced is not the whole image of every channel";
  if (p.output_count() > 1 && p.node().output(1) != nullptr) return "the indices of the maxima are wanted";
  const kernels::Window w = pooled_window(p);
  for (size_t a = 0; a < w.rank(); ++a) {
    if (!all_see_pixels(w, a)) return "a window lies in the padding";
    const int64_t overhang = (w.out[a] - 1) * w.strides[a] + w.reach(a) - w.begin[a] - w.in[a] - w.end[a];
    if (overhang > 0 && kind_of(p) == PoolKind::kAverageWithPads)
      return "a window reaches past the padding that is to be counted";
  }
  return {};
}

/// Of the result: without spatial axes, it lies the same way in every layout whose blocks are full.
Layout result_layout(const Problem& p, Layout layout) { return keeps_axes(p) ? layout : Layout(); }

bool fills_blocks(const Problem& p, Layout layout) { return (*p.input_shape(0))[1] % layout.block == 0; }

/// What the region ends with, if its numbers are quantized again.
const Node* quantizing_node(const Problem& p) {
  return p.region().epilogue.empty() ? nullptr : p.region().epilogue.back().node;
}

/// Numbers that a DequantizeLinear gives are read as they are stored.
void propose_bytes(const Problem& p, const kernels::Window& w, Proposals& proposals) {
  const std::optional<Quantization> from = quantization_of(p.node().input(0));
  if (!from || kind_of(p) == PoolKind::kMax || !averages_bytes(w)) return;
  const Node* quantize = quantizing_node(p);
  const std::optional<Quantization> to = quantize == nullptr ? std::nullopt : read_quantization(*quantize);
  if (quantize != nullptr && !to) return;
  Candidate& b = proposals.add("channels_last_int8", NumericsClass::kReassociated);
  b.add_input(p.node().input(0), {Layout::channels_last(), from->dtype});
  b.add_output(p.region().output(), result_layout(p, Layout::channels_last()));
  b.write(StepFields{.kind = kind_of(p), .window = window_fields(w)});
  b.write(Int8Fields{.x_scale = from->scale, .x_zero_point = from->zero_point});
  if (to) b.write(ResultFields{.scale = to->scale, .zero_point = to->zero_point});
  const auto numbers = static_cast<double>(p.input_shape(0)->numel());
  b.estimate = estimate_seconds(static_cast<double>(p.output_shape(0)->numel() * w.taps()), numbers, 0.5);
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const kernels::Window w = pooled_window(p);
  propose_bytes(p, w, proposals);
  if (quantizing_node(p) != nullptr)
    return proposals.candidates().empty() ? "only averages of 8 bits are quantized again here" : "";
  std::vector<Layout> layouts = {Layout::channels_last()};
  for (const Layout layout : p.layouts(DType::kFloat32, *p.input_shape(0)))
    if (layout == kChannelBlocks && (keeps_axes(p) || fills_blocks(p, layout))) layouts.push_back(layout);
  for (const Layout layout : layouts) {
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    b.add_output(p.node().output(0), result_layout(p, layout));
    b.write(StepFields{.kind = kind_of(p), .window = window_fields(w)});
    b.estimate = estimate_seconds(static_cast<double>(p.output_shape(0)->numel() * w.taps()), 0, 0.2);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "channel_pool",
    .summary = "pooling in vectors of channels, channels last or in blocks of 16; averages of 8-bit integers",
    .version = 3,
    .serves = serves,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_channel_pool
