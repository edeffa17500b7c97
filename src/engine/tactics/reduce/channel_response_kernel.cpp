#include "engine/tactics/reduce/channel_response_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_channel_response {
namespace {

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ResponseKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_channel_response
