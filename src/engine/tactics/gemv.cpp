// Products of a few rows with a constant matrix. They are bound by reading the matrix, which stays where the
// model has it: nothing is packed, nothing copied. Or it is stored in 16 bits, where that changes none of its
// numbers, or where the caller allows it.
#include "kernels/gemv/gemv.h"

#include <algorithm>
#include <cstring>

#include "engine/tactics/matrix_product.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/convert/convert.h"

namespace assay::engine {
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

/// A way to store the matrix.
struct Storing {
  DType dtype;
  kernels::GemvType type;
};
constexpr Storing kStorings[] = {{DType::kFloat32, kernels::GemvType::kFloat32},
                                 {DType::kFloat16, kernels::GemvType::kFloat16},
                                 {DType::kBFloat16, kernels::GemvType::kBfloat16}};

/// The matrix in a narrow type; undefined where that changes a number and `exactly` is wanted.
Tensor stored_as(const UnalignedTensor& matrix, DType dtype, bool exactly) {
  const Tensor wide = matrix.aligned();
  const auto narrow =
      dtype == DType::kFloat16 ? kernels::NarrowType::kFloat16 : kernels::NarrowType::kBfloat16;
  Tensor stored = Tensor::allocate(dtype, wide.shape());
  constexpr int64_t kPiece = 4096;
  std::vector<float> again(kPiece);
  for (int64_t i = 0; i < wide.numel(); i += kPiece) {
    const auto count = static_cast<size_t>(std::min(kPiece, wide.numel() - i));
    auto* to = static_cast<uint16_t*>(stored.mutable_data()) + i;
    kernels::narrow_row(narrow, wide.data<float>() + i, to, count);
    if (!exactly) continue;
    kernels::widen_row(narrow, to, again.data(), count);
    if (std::memcmp(again.data(), wide.data<float>() + i, count * sizeof(float)) != 0) return {};
  }
  return stored;
}

void add_candidate(const Problem& problem, const MatrixProduct& p, const Storing& storing,
                   NumericsClass numerics, Proposals& proposals) {
  const bool narrow = storing.dtype != DType::kFloat32;
  Candidate& b = proposals.add(narrow ? std::string(dtype_name(storing.dtype)) : "", numerics);
  b.add_input(p.left);
  if (narrow)
    b.add_constant(
        p.right->name(), p.right->tensor(), std::string(dtype_name(storing.dtype)),
        [matrix = p.right->tensor(), dtype = storing.dtype] { return stored_as(matrix, dtype, false); });
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
                                static_cast<double>(storage_bytes(storing.dtype, p.b.shape.numel())), 0.5);
  write_row_epilogue(problem, p.epilogue, 3, b);
}

std::string propose(const Problem& problem, Proposals& proposals) {
  if (std::string reason = supports(problem); !reason.empty()) return reason;
  MatrixProduct p;
  read_product(problem, p);
  for (const Storing& storing : kStorings) {
    const DType dtype = storing.dtype;
    const bool allowed = (dtype == DType::kFloat16 && problem.config().precisions.float16) ||
                         (dtype == DType::kBFloat16 && problem.config().precisions.bfloat16);
    if (dtype == DType::kFloat32 || stored_as(p.right->tensor(), dtype, true).defined())
      add_candidate(problem, p, storing, NumericsClass::kReassociated, proposals);
    else if (allowed)
      add_candidate(problem, p, storing, NumericsClass::kLowered, proposals);
  }
  return {};
}

kernels::GemvType matrix_type(const StepReader& r) {
  const DType dtype = r.any_input(1).dtype;
  const auto* const it = std::find_if(std::begin(kStorings), std::end(kStorings),
                                      [&](const Storing& s) { return s.dtype == dtype; });
  StepReader::check(it != std::end(kStorings), "its matrix is {}", dtype_name(dtype));
  return it->type;
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

constinit const TacticDef tactic_gemv = {
    .name = "gemv",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine
