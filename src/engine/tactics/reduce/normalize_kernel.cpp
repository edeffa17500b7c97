#include "engine/tactics/reduce/normalize_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_normalize {
namespace {

class NormalizeKernel final : public Kernel {
 public:
  explicit NormalizeKernel(const StepReader& r) {
    const auto p = r.read<StepFields>();
    n_.rows = p.rows;
    n_.columns = p.columns;
    n_.epsilon = p.epsilon;
    n_.subtract_mean = p.subtract_mean;
    r.check_elements(r.row_input(0), {n_.rows, n_.columns});
    r.check_elements(r.row_output(0), {n_.rows, n_.columns});
    r.check_in_place(0);
    for (const size_t i : {1, 2}) r.optional_elements(i, {p.period > 0 ? p.period : n_.columns});
    if (p.period > 0) {
      n_.per = Normalization::Per::kRow;
      n_.period = p.period;
    }
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::normalize_rows(
        n_, static_cast<const float*>(args.inputs[0]), nullptr, static_cast<const float*>(args.inputs[1]),
        static_cast<const float*>(args.inputs[2]), static_cast<float*>(args.outputs[0]), nullptr);
    return Status::kOk;
  }

 private:
  Normalization n_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<NormalizeKernel>(StepReader(plan, step, 3, 3, 1, StepReader::May::kComputeInPlace));
}

}  // namespace assay::engine::tactic_normalize
