// Depthwise convolution of signals (one spatial axis), row-major: each channel is filtered along its row.
#include <cmath>

#include "engine/tactics/conv/depthwise_conv1d_kernel.h"
#include "engine/tactics/epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_depthwise_conv1d {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

/// Padding times such a weight would not be 0.
bool has_infinite_weights(const UnalignedTensor& weights) {
  const Tensor all = weights.aligned();
  const auto w = all.span<float>();
  return !std::all_of(w.begin(), w.end(), [](float x) { return std::isfinite(x); });
}

std::string read(const Problem& p, DepthwiseConv1d& conv) {
  if (p.region().result_transposed != nullptr) return "the result is transposed";
  const Shape* in = p.input_shape(0);
  if (in == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_constant(1) == nullptr || (p.has_input(2) && p.input_constant(2) == nullptr))
    return "weights or bias are not constant";
  const ConvPlan plan = plan_conv(p.attributes(), *in, p.input_constant(1)->shape());
  const kernels::Window& w = plan.window;
  if (w.rank() != 1) return "it has not one spatial axis";
  if (plan.size.groups != plan.size.in_channels || plan.size.out_channels != plan.size.in_channels)
    return "its channels have not a filter each";
  if (w.strides[0] != 1) return "its stride is not 1";
  if (w.reach(0) - 1 > kernels::kMaxDepthwiseReach) return "its filters are too long";
  if (plan.output.numel() == 0) return "the result is empty";
  conv = {.rows = plan.size.batch * plan.size.groups,
          .channels = plan.size.groups,
          .in = w.in[0],
          .out = w.out[0],
          .taps = w.kernel[0],
          .dilation = w.dilations[0],
          .begin = w.begin[0]};
  const bool pads = conv.begin > 0 || conv.out - 1 + conv.reach() - conv.begin >= conv.in;
  if (pads && has_infinite_weights(*p.input_constant(1))) return "its weights are not finite";
  return row_epilogue_refusal(p, p.region().epilogue);
}

std::string propose(const Problem& p, Proposals& proposals) {
  DepthwiseConv1d conv;
  if (std::string reason = read(p, conv); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(p.node().input(0));
  b.add_input(p.node().input(1));
  p.has_input(2) ? b.add_input(p.node().input(2)) : b.skip_input();
  b.add_output(p.region().output());
  b.write(StepFields{conv});
  b.estimate = estimate_seconds(2.0 * static_cast<double>(conv.rows * conv.out * conv.taps), 0, 0.3);
  write_row_epilogue(p, p.region().epilogue, 3, b);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "depthwise_conv1d",
    .summary = "depthwise convolution of signals, row-major",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_depthwise_conv1d
