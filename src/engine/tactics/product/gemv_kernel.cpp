#include "engine/tactics/product/gemv_kernel.h"

namespace assay::engine::tactic_gemv {
namespace {

DType matrix_type(const StepReader& r) {
  const DType dtype = r.any_input(1).dtype;
  StepReader::check(is_storage_type(dtype), "its matrix is {}", dtype_name(dtype));
  return dtype;
}

class GemvKernel final : public Kernel {
 public:
  explicit GemvKernel(const StepReader& r)
      : p_(r.read<StepFields>()), type_(matrix_type(r)), epilogue_(r, 3) {
    r.check_elements(r.row_input(0), {p_.m, p_.k});
    r.check_elements(r.row_input(1, r.any_input(1).dtype), {p_.k, p_.n});
    r.optional_elements(2, {p_.n});
    r.check_elements(r.row_output(0), {p_.m, p_.n});
    if (!p_.transposed && p_.parts > 1)
      r.check_scratch(r.product({p_.parts - 1, p_.m, p_.n, static_cast<int64_t>(sizeof(float))}));
  }

  Status run(const KernelArgs& args) noexcept override {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    const kernels::GemvMatrix matrix{args.inputs[1], type_};
    const auto* bias = static_cast<const float*>(args.inputs[2]);
    auto* y = static_cast<float*>(args.outputs[0]);
    if (p_.transposed)
      kernels::gemv_rows(p_.m, p_.n, p_.k, x, matrix, bias, y);
    else
      kernels::gemv_columns(p_.m, p_.n, p_.k, x, matrix, bias, y, static_cast<float*>(args.scratch),
                            p_.parts);
    epilogue_.run(args.inputs, y);
    return Status::kOk;
  }

 private:
  StepFields p_;
  DType type_;
  RowEpilogue epilogue_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<GemvKernel>(StepReader(plan, step, 3, StepReader::kAnyNumber));
}

}  // namespace assay::engine::tactic_gemv
