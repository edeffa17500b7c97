#include "engine/tactics/reduce/running_sum_kernel.h"

namespace assay::engine::tactic_running_sum {
namespace {

class RunningKernel final : public Kernel {
 public:
  explicit RunningKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    StepReader::check(kernels::is_running_number(type_), "{} is not summed", dtype_name(type_));
    StepReader::check(r.row_output(0, type_).shape == in.shape, "it gives another shape than {}",
                      in.shape.str());
    const auto p = r.read(StepFields{.axis = axis_field(in.shape)});
    walk_ = kernels::AxisWalk(in.shape, p.axis.at());
    rule_ = p.rule;
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::run_along(walk_, type_, rule_, args.inputs[0], args.outputs[0]);
    return Status::kOk;
  }

 private:
  kernels::AxisWalk walk_;
  DType type_ = DType::kFloat32;
  kernels::RunningRule rule_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<RunningKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_running_sum
