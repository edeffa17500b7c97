#include "engine/tactics/conv/depthwise_conv1d_kernel.h"

namespace assay::engine::tactic_depthwise_conv1d {
namespace {

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<DepthwiseConv1dKernel>(StepReader(plan, step, 3, StepReader::kAnyNumber));
}

}  // namespace assay::engine::tactic_depthwise_conv1d
