// Local response normalisation (LRN) in every layout of images.
#include "kernels/normalize/channel_response.h"

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_channel_response {
namespace {

constexpr std::string_view kOperators[] = {"LRN"};

struct StepFields {
  int64_t size = 1;
  double alpha = 0, beta = 0, bias = 0;

  void fields(FieldVisitor& visit) {
    visit("size", size, {1, kernels::kMaxResponseSize});
    visit("alpha", alpha);
    visit("beta", beta);
    visit("bias", bias);
  }
};

std::string supports(const Problem& p) {
  const Shape* shape = p.input_shape(0);
  if (shape == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (shape->numel() == 0) return "the result is empty";
  const OpContext c = p.attributes();
  if ((*shape)[1] > kernels::kMaxResponseChannels || c.attr_int("size") > kernels::kMaxResponseSize)
    return "the window or the image has too many channels";
  if (c.attr_float("alpha") < 0 || c.attr_float("bias") < 0 || !(c.attr_float("beta") > 0))
    return "what is divided by may be below zero, or is always one";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const OpContext c = p.attributes();
  const Shape& shape = *p.input_shape(0);
  for (const Layout layout : p.layouts(DType::kFloat32, shape)) {
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    b.add_output(p.node().output(0), layout);
    b.write(StepFields{.size = c.attr_int("size"),
                       .alpha = c.attr_float("alpha"),
                       .beta = c.attr_float("beta"),
                       .bias = c.attr_float("bias")});
    b.estimate = estimate_seconds(30.0 * static_cast<double>(shape.numel()), 0, layout.is_row() ? 0.3 : 0.2);
  }
  return {};
}

class ResponseKernel final : public Kernel {
 public:
  explicit ResponseKernel(const StepReader& r) {
    const PlanValue &in = r.input(0), &out = r.output(0);
    const Shape& shape = in.shape;
    StepReader::check(shape.rank() >= 2 && shape == out.shape && in.layout == out.layout && shape.numel() > 0,
                      "it makes {} of {}", out.shape.str(), shape.str());
    StepReader::check(shape[1] <= kernels::kMaxResponseChannels, "it has {} channels", shape[1]);
    const auto p = r.read<StepFields>();
    n_ = {.images = shape[0],
          .channels = shape[1],
          .pixels = shape.numel(2, shape.size()),
          .block = in.layout.is_channels_last() ? shape[1]
                   : in.layout.is_blocked()     ? in.layout.block
                                                : 1,
          .size = p.size,
          .alpha = static_cast<float>(p.alpha),
          .beta = static_cast<float>(p.beta),
          .bias = static_cast<float>(p.bias)};
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::channel_response(n_, static_cast<const float*>(args.inputs[0]),
                              static_cast<float*>(args.outputs[0]));
    return Status::kOk;
  }

 private:
  kernels::ChannelResponse n_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ResponseKernel>(StepReader(plan, step, 1));
}

}  // namespace

constinit const TacticDef def = {
    .name = "channel_response",
    .summary = "local response normalisation in every layout",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_channel_response
