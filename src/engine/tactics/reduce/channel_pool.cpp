// Pooling of images with channels last or in blocks of channels, in vectors of channels.
#include <algorithm>

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

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const kernels::Window w = pooled_window(p);
  std::vector<Layout> layouts = {Layout::channels_last()};
  for (const Layout layout : p.layouts(DType::kFloat32, *p.input_shape(0)))
    if (layout == kChannelBlocks) layouts.push_back(layout);
  for (const Layout layout : layouts) {
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    b.add_output(p.node().output(0), layout);
    b.write(StepFields{.kind = kind_of(p), .window = window_fields(w)});
    b.estimate = estimate_seconds(static_cast<double>(p.output_shape(0)->numel() * w.taps()), 0, 0.2);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "channel_pool",
    .summary = "pooling in vectors of channels, channels last or in blocks of 16",
    .version = 2,
    .serves = serves,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_channel_pool
