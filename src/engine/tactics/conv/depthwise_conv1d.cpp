// Depthwise convolution of signals (one spatial axis), row-major: each channel is filtered along its row.
#include "kernels/depthwise_conv1d/depthwise_conv1d.h"

#include <cmath>

#include "engine/tactics/epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_depthwise_conv1d {
namespace {

using kernels::DepthwiseConv1d;

constexpr std::string_view kOperators[] = {"Conv"};

struct StepFields {
  DepthwiseConv1d conv;

  void fields(FieldVisitor& visit) {
    visit("sizes", {&conv.rows, &conv.channels, &conv.in, &conv.out, &conv.taps, &conv.dilation, &conv.begin},
          {0, kMaxOfWindow});
  }
};

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

DepthwiseConv1d read_sizes(const StepReader& r) {
  const DepthwiseConv1d conv = r.read<StepFields>().conv;
  const int64_t sizes[] = {conv.rows, conv.channels, conv.in, conv.out, conv.taps, conv.dilation};
  for (size_t i = 0; i < std::size(sizes); ++i) StepReader::check(sizes[i] > 0, "its size {} is 0", i);
  StepReader::check(conv.rows % conv.channels == 0, "{} signals have {} filters", conv.rows, conv.channels);
  StepReader::check(r.product({conv.taps - 1, conv.dilation}) <= kernels::kMaxDepthwiseReach,
                    "its filters reach over {} samples", conv.reach());
  r.check_elements(r.row_input(0), {conv.rows, conv.in});
  r.check_elements(r.row_input(1), {conv.channels, conv.taps});
  r.optional_elements(2, {conv.channels});
  r.check_elements(r.row_output(0), {conv.rows, conv.out});
  return conv;
}

class DepthwiseConv1dKernel final : public Kernel {
 public:
  explicit DepthwiseConv1dKernel(const StepReader& r) : conv_(read_sizes(r)), epilogue_(r, 3) {}

  Status run(const KernelArgs& args) noexcept override {
    auto* y = static_cast<float*>(args.outputs[0]);
    kernels::depthwise_conv1d(conv_, static_cast<const float*>(args.inputs[0]),
                              static_cast<const float*>(args.inputs[1]),
                              static_cast<const float*>(args.inputs[2]), y);
    epilogue_.run(args.inputs, y);
    return Status::kOk;
  }

 private:
  DepthwiseConv1d conv_;
  RowEpilogue epilogue_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<DepthwiseConv1dKernel>(StepReader(plan, step, 3, StepReader::kAnyNumber));
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
