#include "engine/tactics/product/nbits_matmul_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_nbits_matmul {
namespace {

class NbitsKernel final : public Kernel {
 public:
  explicit NbitsKernel(const StepReader& r) : NbitsKernel(r, r.read<StepFields>()) {}
  NbitsKernel(const StepReader& r, const StepFields& p) : m_(p.m), w_(p.w), rounds_(p.rounds) {
    StepReader::check(fits(w_), "it has {} bits in blocks of {}", w_.bits, w_.block);
    r.check_elements(r.row_input(0), {m_, w_.k});
    r.check_elements(r.row_input(1, DType::kUInt8), {w_.n, w_.blocks(), w_.block_bytes()});
    r.check_elements(r.row_input(2), {w_.n, w_.blocks()});
    if (r.has_input(3)) r.check_elements(r.row_input(3, DType::kUInt8), {w_.n, w_.zero_bytes()});
    r.optional_elements(4, {w_.n});
    r.check_elements(r.row_output(0), {m_, w_.n});
    // Rounded rows take no more than this, which is checked not to overflow.
    StepReader::product(
        {kernels::nbits_scratch_rows(m_), w_.blocks(), w_.block, static_cast<int64_t>(2 * sizeof(float))});
    r.check_scratch(scratch_of(p));
  }

  Status run(const KernelArgs& args) noexcept override {
    kernels::NbitsWeights w = w_;
    w.levels = static_cast<const uint8_t*>(args.inputs[1]);
    w.scales = static_cast<const float*>(args.inputs[2]);
    w.zero_points = static_cast<const uint8_t*>(args.inputs[3]);
    const auto *x = static_cast<const float*>(args.inputs[0]),
               *bias = static_cast<const float*>(args.inputs[4]);
    auto* y = static_cast<float*>(args.outputs[0]);
    if (rounds_)
      kernels::rounded_nbits_product(w, x, m_, bias, y, args.scratch);
    else
      kernels::nbits_product(w, x, m_, bias, y, static_cast<float*>(args.scratch));
    return Status::kOk;
  }

 private:
  int64_t m_;
  kernels::NbitsWeights w_;
  bool rounds_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<NbitsKernel>(StepReader(plan, step, 5));
}

}  // namespace assay::engine::tactic_nbits_matmul
