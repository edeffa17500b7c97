#include "engine/tactics/move/strided_copy_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_strided_copy {
namespace {

class CopyKernel final : public Kernel {
 public:
  void add(kernels::StridedCopy copy, int64_t offset_bytes) {
    parts_.push_back({std::move(copy), offset_bytes});
  }
  Status run(const KernelArgs& args) noexcept override {
    for (size_t i = 0; i < parts_.size(); ++i)
      parts_[i].copy.run(static_cast<const char*>(args.inputs[0]) + parts_[i].offset, args.outputs[i]);
    return Status::kOk;
  }

 private:
  struct Part {
    kernels::StridedCopy copy;
    int64_t offset;
  };
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1, 1, StepReader::kAnyNumber);
  const PlanValue& in = r.raw_input(0);
  size_t axes = 0;
  for (size_t i = 0; i < step.outputs.size(); ++i) axes += r.row_output(i, in.dtype).shape.size();
  const auto p =
      r.read(StepFields{.outputs = step.outputs.size(), .axes = axes, .strides = {}, .offsets = {}});
  std::span<const int64_t> strides = p.strides;
  auto kernel = std::make_unique<CopyKernel>();
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const PlanValue& out = plan.values[static_cast<size_t>(step.outputs[i])];
    const size_t width = storage_bytes(out.dtype, 1);
    const std::span<const int64_t> own = strides.first(out.shape.size());
    strides = strides.subspan(own.size());
    const int64_t offset = out.shape.numel() == 0 ? 0 : p.offsets[i];
    r.check_walk(in, out.shape, own, offset);
    kernel->add(kernels::StridedCopy(out.shape, {own.begin(), own.end()}, out.shape.strides(), width),
                offset * static_cast<int64_t>(width));
  }
  return kernel;
}

}  // namespace assay::engine::tactic_strided_copy
