// Pooling of images with channels last or in blocks of channels, in vectors of channels.
#include "kernels/channel_window/pool.h"

#include <algorithm>

#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/conv/window_parameters.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic.h"
#include "engine/tactics/tactic_list.h"
#include "ops/node_facts.h"

namespace assay::engine::tactic_channel_pool {
namespace {

using kernels::PoolKind;

/// ReduceMean, too: over the whole image of every channel.
bool serves(const OpFacts& facts) {
  return facts.pool != PoolFact::kNone || facts.reduction.kernel == kernels::Reduction::kMean;
}

struct StepFields {
  PoolKind kind = PoolKind::kMax;
  WindowFields window;

  void fields(FieldVisitor& visit) {
    visit("kind", kind, PoolKind::kAverageWithPads);
    window.fields(visit);
  }
};

PoolKind kind_of(const Problem& p) {
  if (facts_of(p.node(), p.model()).pool == PoolFact::kLargest) return PoolKind::kMax;
  const bool counts =
      p.node().op_type == "AveragePool" && p.attributes().attr_int("count_include_pad", 0) != 0;
  return counts ? PoolKind::kAverageWithPads : PoolKind::kAverage;
}

/// The first and the last window see something of the image, so all do, unless taps lie so far apart that a
/// window steps over it.
bool all_see_pixels(const kernels::Window& w, size_t axis) {
  for (int64_t o = 0; o < w.out[axis]; ++o) {
    const int64_t at = o * w.strides[axis] - w.begin[axis];
    const int64_t first = at >= 0 ? 0 : (-at + w.dilations[axis] - 1) / w.dilations[axis];
    if (first >= w.kernel[axis] || at + first * w.dilations[axis] >= w.in[axis]) return false;
  }
  return true;
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

class PoolKernel final : public Kernel {
 public:
  PoolKernel(const kernels::Window& w, int64_t images, int64_t channels, PoolKind kind, Layout layout)
      : window_(channel_window(w, channels, layout)),
        rows_(window_, images, w.out_size() / window_.out_columns),
        kind_(kind) {}

  Status run(const KernelArgs& args) noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    auto* const y = static_cast<float*>(args.outputs[0]);
    rows_.run([&](const ChannelRows::Part& part) {
      kernels::pool_row(window_, kind_, x + part.image, part.row, part.first, part.count, y + part.result);
    });
    return Status::kOk;
  }

 private:
  kernels::ChannelWindow window_;
  ChannelRows rows_;
  PoolKind kind_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.input(0), &out = r.output(0);
  const Layout layout = in.layout == kChannelBlocks ? kChannelBlocks : Layout::channels_last();
  StepReader::check((in.shape.rank() == 3 || in.shape.rank() == 4) && out.shape.rank() == in.shape.rank() &&
                        in.shape[0] == out.shape[0] && in.shape[1] == out.shape[1] && in.shape.numel() > 0 &&
                        out.shape.numel() > 0 && same_memory(in.shape, in.layout, layout) &&
                        same_memory(out.shape, out.layout, layout),
                    "it makes {} in {} of {} in {}", out.shape.str(), out.layout.str(), in.shape.str(),
                    in.layout.str());
  const size_t axes = in.shape.size() - 2;
  const auto p = r.read(StepFields{.window = {axes}});
  const kernels::Window w{.in = {in.shape.begin() + 2, in.shape.end()},
                          .out = {out.shape.begin() + 2, out.shape.end()},
                          .kernel = p.window.kernel,
                          .strides = p.window.strides,
                          .dilations = p.window.dilations,
                          .begin = p.window.begin,
                          .end = std::vector<int64_t>(axes, 0)};
  int64_t taps = 1;
  for (size_t a = 0; a < axes; ++a) {
    taps = r.product({taps, w.kernel[a]});
    StepReader::check(all_see_pixels(w, a), "a window lies beside {}", in.shape.str());
  }
  r.product({out.shape.numel(), taps});
  return std::make_unique<PoolKernel>(w, in.shape[0], in.shape[1], p.kind, layout);
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
