// Pooling through oneDNN, in the layout that the input has.
#include <algorithm>
#include <array>
#include <limits>

#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/dnnl/dnnl_pool_kernel.h"
#include "engine/tactics/dnnl/dnnl_util.h"
#include "engine/tactics/tactic_list.h"
#include "ops/node_facts.h"

namespace assay::engine::tactic_dnnl_pool {
namespace {

/// ReduceMean, too: over the whole image of every channel.
bool serves(const OpFacts& facts) {
  return facts.pool != PoolFact::kNone || facts.reduction.kernel == kernels::Reduction::kMean;
}

/// Numbers that an average adds up at most: oneDNN adds them one after the other, and of a flat image all
/// roundings have one sign. The error of so many is 2^-14 of the mean at worst.
constexpr int64_t kMaxTaps = 1024;

bool is_max(const Problem& p) { return facts_of(p.node(), p.model()).pool == PoolFact::kLargest; }

bool counts_padding(const Problem& p) {
  return p.node().op_type == "AveragePool" && p.attributes().attr_int("count_include_pad", 0) != 0;
}

std::string supports(const Problem& p) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (out->numel() == 0) return "the result is empty";
  if (!reduces_images(p) || !keeps_axes(p)) return "what is reduced is not the whole image of every channel";
  if (p.output_count() > 1 && p.node().output(1) != nullptr) return "the indices of the maxima are wanted";
  const kernels::Window w = pooled_window(p);
  if (!is_max(p) && w.taps() > kMaxTaps)
    return fmt::format("it would add up {} numbers one after the other", w.taps());
  for (size_t a = 0; a < w.rank(); ++a) {
    // Padding that no window is allowed to lie in whole, and windows that reach past it.
    if (w.begin[a] >= w.reach(a) || w.end[a] >= w.reach(a)) return "the padding is as wide as the window";
    const int64_t overhang = (w.out[a] - 1) * w.strides[a] + w.reach(a) - w.begin[a] - w.in[a] - w.end[a];
    if ((w.out[a] - 1) * w.strides[a] - w.begin[a] >= w.in[a]) return "a window lies behind the image";
    if (overhang > 0 && counts_padding(p)) return "a window reaches past the padding that is to be counted";
  }
  return {};
}

PoolShape shape_of(const Problem& p) {
  const kernels::Window w = pooled_window(p);
  PoolShape s{.in = *p.input_shape(0),
              .out = *p.output_shape(0),
              .p = {.kind = is_max(p)           ? PoolWay::kMax
                            : counts_padding(p) ? PoolWay::kAverageWithPads
                                                : PoolWay::kAverage,
                    .kernel = w.kernel,
                    .window = {.strides = w.strides, .begin = w.begin}}};
  for (size_t a = 0; a < w.rank(); ++a) {
    s.p.window.dilations.push_back(w.dilations[a] - 1);
    // oneDNN derives the output from the padding; a window that ends early leaves some of it unused.
    s.p.window.end.push_back((w.out[a] - 1) * w.strides[a] + w.reach(a) - w.begin[a] - w.in[a]);
  }
  return s;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const PoolShape s = shape_of(p);
  return add_image_candidates(
      p, s.p, [&](Layout layout) { return parts_of(s.out, layout, p.config().threads); },
      [&](Layout layout, const Box& part) { return describe(s, layout, part); },
      static_cast<double>(s.out.numel() * Shape(s.p.kernel).numel()),
      [](Layout layout, std::string_view implementation) {
        // Plain loops where oneDNN has no code for the instruction set: row-major images on AVX2.
        if (!implementation.starts_with("jit")) return 0.008;
        return layout.is_blocked() ? 0.2 : 0.1;
      },
      proposals);
}

}  // namespace

constinit const TacticDef def = {
    .name = "dnnl_pool",
    .summary = "oneDNN's pooling",
    .version = 3,
    .serves = serves,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dnnl_pool
