#include "engine/tactics/move/resize_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_resize {
namespace {

class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(const StepReader& r) {
    const PlanValue &in = r.input(0), &out = r.output(0);
    const size_t rank = in.shape.size();
    bool fits = rank >= 2 && out.shape.size() == rank && in.layout == out.layout && in.shape.numel() > 0 &&
                (rank == 4 || in.layout.is_row());
    for (size_t d = 0; fits && d + 2 < rank; ++d) fits = in.shape[d] == out.shape[d];
    StepReader::check(fits, "it makes {} of {}", out.shape.str(), in.shape.str());
    const auto p = r.read(StepFields{.rows = {in.shape[rank - 2], out.shape[rank - 2]},
                                     .columns = {in.shape[rank - 1], out.shape[rank - 1]}});
    rows_ = p.rows.table();
    columns_ = p.columns.table();
    height_ = in.shape[rank - 2];
    width_ = in.shape[rank - 1];
    inner_ = in.layout.is_blocked() ? in.layout.block : in.layout.is_channels_last() ? in.shape[1] : 1;
    planes_ = static_cast<int64_t>(in.bytes() / sizeof(float)) / (height_ * width_ * inner_);
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::resize(static_cast<const float*>(args.inputs[0]), static_cast<float*>(args.outputs[0]), planes_,
                    height_, width_, inner_, rows_, columns_);
    return Status::kOk;
  }

 private:
  kernels::ResizeAxis rows_, columns_;
  int64_t planes_ = 0, height_ = 0, width_ = 0, inner_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ResizeKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_resize
