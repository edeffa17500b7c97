#include "engine/tactics/conv/fold_columns_kernel.h"

namespace assay::engine::tactic_fold_columns {
namespace {

class FoldKernel final : public Kernel {
 public:
  explicit FoldKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    const PlanValue& out = r.row_output(0, type_);
    StepReader::check(kernels::is_number(type_) && out.shape.size() >= 3 && out.shape.numel() > 0,
                      "it makes {}", out.shape.str());
    const auto p = r.read(StepFields{.window = window_fields(out.shape, out.shape, kernels::kMaxWindowAxes)});
    const std::vector<int64_t>& blocks = p.blocks;
    Shape positions = out.shape;
    std::copy(blocks.begin(), blocks.end(), positions.begin() + 2);
    window_ = window_over(r, p.window, out.shape, positions);
    planes_ = out.shape.numel(0, 2);
    int64_t elements = r.product({planes_, window_.taps()});
    for (const int64_t b : blocks) elements = r.product({elements, b});
    StepReader::check(in.shape.numel() == elements, "it has {} elements of {} in blocks", in.shape.numel(),
                      elements);
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::fold_columns(window_, type_, planes_, args.inputs[0], args.outputs[0]);
    return Status::kOk;
  }

 private:
  kernels::Window window_;
  DType type_ = DType::kFloat32;
  int64_t planes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<FoldKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_fold_columns
