// Products of a few rows with a constant matrix. They are bound by reading the matrix, which is used in
// place: nothing is packed or copied. Or it is stored in 16 bits, if that is lossless, or if the caller
// allows it.
#include "engine/tactics/product/gemv_kernel.h"
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
