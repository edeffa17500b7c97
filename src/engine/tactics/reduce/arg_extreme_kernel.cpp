#include "engine/tactics/reduce/arg_extreme_kernel.h"

namespace assay::engine::tactic_arg_extreme {
namespace {

class ArgExtremeKernel final : public Kernel {
 public:
  explicit ArgExtremeKernel(const StepReader& r) {
    const PlanValue &in = r.raw_input(0), &out = r.row_output(0, DType::kInt64);
    type_ = in.dtype;
    StepReader::check(kernels::is_number(type_), "{} is not searched", dtype_name(type_));
    const auto p = r.read(StepFields{.axis = axis_field(in.shape)});
    walk_ = kernels::AxisWalk(in.shape, p.axis.at());
    StepReader::check(walk_.extent > 0 && out.shape.numel() == walk_.lines(), "it finds {} places in {}",
                      out.shape.str(), in.shape.str());
    rule_ = p.rule;
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::find_extremes(walk_, type_, rule_, args.inputs[0], static_cast<int64_t*>(args.outputs[0]));
    return Status::kOk;
  }

 private:
  kernels::AxisWalk walk_;
  DType type_ = DType::kFloat32;
  kernels::ExtremeRule rule_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ArgExtremeKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_arg_extreme
