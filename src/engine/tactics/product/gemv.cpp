// Products of a few rows with a constant matrix. They are bound by reading the matrix, which stays where the
// model has it: nothing is packed, nothing copied. Or it is stored in 16 bits, where that changes none of its
// numbers, or where the caller allows it.
#include "kernels/gemv/gemv.h"

#include "engine/tactics/product/matrix_product.h"
#include "engine/tactics/stored_form.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_gemv {
namespace {

constexpr std::string_view kOperators[] = {"MatMul", "Gemm"};

bool is_transposed(const Matrix& b) { return b.strides == std::vector<int64_t>{1, b.shape[0]}; }

std::string supports(const Problem& problem) {
  MatrixProduct p;
  if (std::string reason = read_product(problem, p); !reason.empty()) return reason;
  if (!p.packed) return "the right operand is not a constant matrix";
  if (p.a.shape.rank() != 2 || p.a.shape[0] > kernels::kMaxGemvRows) return "the left operand has many rows";
  if (!is_dense(p.a) || !is_dense(p.out) || p.rearranged) return "an operand or the result is rearranged";
  if (!is_dense(p.b) && !is_transposed(p.b)) return "the matrix is neither row-major nor transposed";
  if (p.weight_scale != 1 || p.bias_scale != 1) return "alpha or beta is not 1";
  return row_epilogue_refusal(problem, p.epilogue);
}

kernels::GemvType stored_type(DType dtype) {
  return dtype == DType::kFloat16    ? kernels::GemvType::kFloat16
         : dtype == DType::kBFloat16 ? kernels::GemvType::kBfloat16
                                     : kernels::GemvType::kFloat32;
}

void add_candidate(const Problem& problem, const MatrixProduct& p, const StoredForm& form,
                   Proposals& proposals) {
  Candidate& b = proposals.add(form.variant(), form.numerics);
  b.add_input(p.left);
  if (form.is_narrow()) b.arithmetic = form.dtype;
  if (form.is_narrow())
    b.add_constant(p.right->name(), p.right->tensor(), form.variant(),
                   [matrix = p.right->tensor(), dtype = form.dtype] { return narrowed(matrix, dtype); });
  else
    b.add_input(p.right);
  p.bias != nullptr ? b.add_input(p.bias) : b.skip_input();
  b.add_output(problem.region().output());
  Parameters& parameters = b.step.parameters;
  parameters.set("m", p.a.shape[0]);
  parameters.set("n", p.b.shape[1]);
  parameters.set("k", p.b.shape[0]);
  parameters.set("transposed", int64_t{!is_dense(p.b)});
  if (is_dense(p.b)) {
    const int64_t parts =
        kernels::gemv_columns_parts(p.a.shape[0], p.b.shape[1], p.b.shape[0], problem.config().threads);
    parameters.set("parts", parts);
    b.step.scratch_bytes = (parts - 1) * p.out.shape.numel() * static_cast<int64_t>(sizeof(float));
  }
  b.estimate = estimate_seconds(2.0 * static_cast<double>(p.out.shape.numel() * p.b.shape[0]),
                                static_cast<double>(storage_bytes(form.dtype, p.b.shape.numel())), 0.5);
  write_row_epilogue(problem, p.epilogue, 3, b);
}

std::string propose(const Problem& problem, Proposals& proposals) {
  if (std::string reason = supports(problem); !reason.empty()) return reason;
  MatrixProduct p;
  read_product(problem, p);
  for (const StoredForm& form : stored_forms_of(problem, p.right->tensor()))
    add_candidate(problem, p, form, proposals);
  return {};
}

kernels::GemvType matrix_type(const StepReader& r) {
  const DType dtype = r.any_input(1).dtype;
  StepReader::check(is_storage_type(dtype), "its matrix is {}", dtype_name(dtype));
  return stored_type(dtype);
}

class GemvKernel final : public Kernel {
 public:
  explicit GemvKernel(const StepReader& r)
      : m_(r.number("m", 1, kernels::kMaxGemvRows)),
        n_(r.number("n", 1)),
        k_(r.number("k", 1)),
        parts_(r.flag("transposed") ? 0 : r.number("parts", 1, k_)),
        type_(matrix_type(r)),
        epilogue_(r, 3) {
    r.check_elements(r.row_input(0), {m_, k_});
    r.check_elements(r.row_input(1, r.any_input(1).dtype), {k_, n_});
    r.optional_elements(2, {n_});
    r.check_elements(r.row_output(0), {m_, n_});
    if (parts_ > 1) r.check_scratch(r.product({parts_ - 1, m_, n_, static_cast<int64_t>(sizeof(float))}));
  }

  Status run(const KernelArgs& args) noexcept override {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    const kernels::GemvMatrix matrix{args.inputs[1], type_};
    const auto* bias = static_cast<const float*>(args.inputs[2]);
    auto* y = static_cast<float*>(args.outputs[0]);
    if (parts_ == 0)
      kernels::gemv_rows(m_, n_, k_, x, matrix, bias, y);
    else
      kernels::gemv_columns(m_, n_, k_, x, matrix, bias, y, static_cast<float*>(args.scratch), parts_);
    epilogue_.run(args.inputs, y);
    return Status::kOk;
  }

 private:
  int64_t m_, n_, k_;
  int64_t parts_;  // 0: the matrix is stored transposed
  kernels::GemvType type_;
  RowEpilogue epilogue_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<GemvKernel>(StepReader(plan, step, 3, StepReader::kAnyNumber));
}

}  // namespace

constinit const TacticDef def = {
    .name = "gemv",
    .summary = "a few rows times a constant matrix, read where it lies or in 16 bits",
    .version = 2,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_gemv
