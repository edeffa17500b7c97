#include "engine/tactics/conv/group_conv_kernel.h"

namespace assay::engine::tactic_group_conv {
namespace {

class GroupConvKernel final : public Kernel {
 public:
  explicit GroupConvKernel(const StepReader& r) : size_(r.read<StepFields>().size), epilogue_(r, 3) {
    r.check_elements(r.row_input(0), {size_.batch, size_.groups, size_.k, size_.n});
    r.check_elements(r.row_input(1), {size_.groups, size_.m, size_.k});
    r.optional_elements(2, {size_.groups, size_.m});
    r.check_elements(r.row_output(0), {size_.batch, size_.groups, size_.m, size_.n});
  }

  Status run(const KernelArgs& args) noexcept override {
    auto* y = static_cast<float*>(args.outputs[0]);
    kernels::grouped_gemm(size_, static_cast<const float*>(args.inputs[1]),
                          static_cast<const float*>(args.inputs[0]),
                          static_cast<const float*>(args.inputs[2]), y);
    epilogue_.run(args.inputs, y);
    return Status::kOk;
  }

 private:
  kernels::GroupedGemm size_;
  RowEpilogue epilogue_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<GroupConvKernel>(StepReader(plan, step, 3, StepReader::kAnyNumber));
}

}  // namespace assay::engine::tactic_group_conv
