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

struct StepFields {
  int64_t m = 1, n = 1, k = 1;
  bool transposed = false;  ///< the matrix is stored so
  int64_t parts = 1;        ///< of a matrix that is not: ranges of its rows

  void fields(FieldVisitor& visit) {
    visit("m", m, {1, kernels::kMaxGemvRows});
    visit("n", n, kPositive);
    visit("k", k, kPositive);
    visit("transposed", transposed);
    if (!transposed) visit("parts", parts, {1, k});
  }
};

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
  StepFields fields{.m = p.a.shape[0], .n = p.b.shape[1], .k = p.b.shape[0], .transposed = !is_dense(p.b)};
  if (!fields.transposed) {
    fields.parts = kernels::gemv_columns_parts(fields.m, fields.n, fields.k, problem.config().threads);
    b.step.scratch_bytes = (fields.parts - 1) * p.out.shape.numel() * static_cast<int64_t>(sizeof(float));
  }
  b.write(fields);
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
