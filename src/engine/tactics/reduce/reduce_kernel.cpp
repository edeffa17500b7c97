#include "engine/tactics/reduce/reduce_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_reduce {
namespace {

class ReduceKernel final : public Kernel {
 public:
  explicit ReduceKernel(const StepReader& r) : p_(r.read<StepFields>()) {
    r.check_elements(r.row_input(0), {p_.outer, p_.count, p_.inner});
    r.check_elements(r.row_output(0), {p_.outer, p_.inner});
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::reduce(p_.kind, static_cast<const float*>(args.inputs[0]), static_cast<float*>(args.outputs[0]),
                    p_.outer, p_.count, p_.inner);
    return Status::kOk;
  }

 private:
  StepFields p_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ReduceKernel>(StepReader(plan, step, 1));
}

}  // namespace assay::engine::tactic_reduce
