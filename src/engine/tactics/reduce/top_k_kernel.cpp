#include "engine/tactics/reduce/top_k_kernel.h"

namespace assay::engine::tactic_top_k {
namespace {

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    StepReader::check(kernels::is_number(type_), "{} is not searched", dtype_name(type_));
    const auto p = r.read(StepFields{.axis = axis_field(in.shape)});
    const size_t axis = p.axis.at();
    walk_ = kernels::AxisWalk(in.shape, axis);
    StepReader::check(walk_.extent <= kernels::kMaxOfTopK, "its lines of {} are too long", walk_.extent);
    Shape out = r.row_output(0, type_).shape;
    StepReader::check(out.size() == in.shape.size() && out[axis] <= walk_.extent &&
                          r.row_output(1, DType::kInt64).shape == out,
                      "it selects {} of {}", out.str(), in.shape.str());
    k_ = out[axis];
    out[axis] = walk_.extent;
    StepReader::check(out == in.shape, "it selects from {}, not {}", in.shape.str(), out.str());
    largest_ = p.largest;
  }
  Status run(const KernelArgs& args) noexcept override {
    return kernels::top_k(walk_, type_, k_, largest_, args.inputs[0], args.outputs[0],
                          static_cast<int64_t*>(args.outputs[1]))
               ? Status::kOk
               : Status::kOutOfMemory;
  }

 private:
  kernels::AxisWalk walk_;
  DType type_ = DType::kFloat32;
  int64_t k_ = 0;
  bool largest_ = true;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<TopKKernel>(StepReader(plan, step, 1, 1, 2));
}

}  // namespace assay::engine::tactic_top_k
