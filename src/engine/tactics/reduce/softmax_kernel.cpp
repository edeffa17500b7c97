#include "engine/tactics/reduce/softmax_kernel.h"

namespace assay::engine::tactic_softmax {
namespace {

class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const StepReader& r)
      : p_(r.read(StepFields{.mask = r.has_input(1) ? std::optional(MaskFields()) : std::nullopt})) {
    r.check_elements(r.row_input(0), {p_.outer, p_.count, p_.inner});
    r.check_elements(r.row_output(0), {p_.outer, p_.count, p_.inner});
    r.check_in_place(0);
    if (!p_.mask) return;
    const auto& strides = p_.mask->strides;
    mask_ = {.heads = p_.mask->heads,
             .queries = p_.mask->queries,
             .batch_stride = strides[0],
             .head_stride = strides[1],
             .query_stride = strides[2],
             .key_stride = strides[3]};
    const int64_t images = p_.outer / r.product({mask_.heads, mask_.queries});
    StepReader::check(p_.inner == 1 && r.product({images, mask_.heads, mask_.queries}) == p_.outer,
                      "its mask has {} heads and {} queries for {} rows", mask_.heads, mask_.queries,
                      p_.outer);
    r.check_walk(r.row_input(1), {images, mask_.heads, mask_.queries, p_.count}, strides);
  }
  Status run(const KernelArgs& args) noexcept override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    if (p_.mask) {
      mask_.data = static_cast<const float*>(args.inputs[1]);
      kernels::masked_softmax(in, out, p_.outer, p_.count, p_.scale, mask_);
    } else if (p_.logarithm) {
      kernels::log_softmax(in, out, p_.outer, p_.count, p_.inner);
    } else {
      kernels::softmax(in, out, p_.outer, p_.count, p_.inner, p_.scale);
    }
    return Status::kOk;
  }

 private:
  StepFields p_;
  kernels::SoftmaxMask mask_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<SoftmaxKernel>(StepReader(plan, step, 1, 2, 1, StepReader::May::kComputeInPlace));
}

}  // namespace assay::engine::tactic_softmax
