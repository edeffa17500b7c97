#include "engine/tactics/move/copy_kernel.h"

#include "base/parallel.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_copy {
namespace {

class CopyKernel final : public Kernel {
 public:
  explicit CopyKernel(size_t bytes) : bytes_(static_cast<int64_t>(bytes)) {}
  Status run(const KernelArgs& args) noexcept override {
    parallel_for(bytes_, 1 << 18, [&](int64_t first, int64_t last) {
      std::memcpy(static_cast<char*>(args.outputs[0]) + first,
                  static_cast<const char*>(args.inputs[0]) + first, static_cast<size_t>(last - first));
    });
    return Status::kOk;
  }

 private:
  int64_t bytes_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.any_input(0), &out = r.output(0, in.dtype);
  StepReader::check(in.shape == out.shape && in.layout == out.layout, "it copies {} in {} into {} in {}",
                    in.shape.str(), in.layout.str(), out.shape.str(), out.layout.str());
  return std::make_unique<CopyKernel>(out.bytes());
}

}  // namespace assay::engine::tactic_copy
