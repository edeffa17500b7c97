#include "engine/tactics/move/triangle_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_triangle {
namespace {

class TriangleKernel final : public Kernel {
 public:
  explicit TriangleKernel(const StepReader& r) : p_(r.read<StepFields>()) {
    const PlanValue& in = r.raw_input(0);
    StepReader::check(in.shape.size() >= 2 && r.row_output(0, in.dtype).shape == in.shape,
                      "it gives another shape than {}", in.shape.str());
    matrices_ = in.shape.numel(0, in.shape.size() - 2);
    rows_ = in.shape[in.shape.size() - 2];
    columns_ = in.shape.back();
    width_ = storage_bytes(in.dtype, 1);
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::copy_triangle(args.inputs[0], args.outputs[0], matrices_, rows_, columns_, p_.k, p_.upper,
                           width_);
    return Status::kOk;
  }

 private:
  StepFields p_;
  int64_t matrices_ = 0, rows_ = 0, columns_ = 0;
  size_t width_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<TriangleKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_triangle
