// MatMul and Gemm of 8-bit integers with a constant matrix, from DequantizeLinear to QuantizeLinear.
#include "engine/tactics/int8_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_int8_matmul {
namespace {

constexpr std::string_view kOperators[] = {"MatMul", "Gemm"};

std::string propose(const Problem& problem, Proposals& proposals) {
  MatrixProduct p;
  if (std::string reason = read_matrix_product(problem, p); !reason.empty()) return reason;
  if (problem.region().transposed[1] != nullptr) return "an operand is transposed";
  const ProductSize size{p.out.shape[0], p.b.shape[1], p.b.shape[0]};
  const size_t channel_axis = is_dense(p.b) ? 1 : 0;
  Int8Operands operands;
  if (std::string reason = read_int8(problem, p.left, p.right, channel_axis, size.k, operands);
      !reason.empty())
    return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  const kernels::Int8Weights weights{size.n, size.k, operands.wide};
  write_int8(
      problem, operands, p.left, p.right, p.bias, p.bias_scale, p.epilogue, size.n, {},
      fmt::format("int8 {}{} of {} in panels of {}", p.b.shape.str(), p.b.strides[0], weights.wide ? 16 : 8,
                  kernels::kInt8Columns),
      [weights, source = *operands.weights, strides = p.b.strides] {
        Tensor packed = Tensor::allocate(DType::kUInt8, Shape{weights.bytes()});
        kernels::pack_int8_weights(weights, int8_numbers(source).data(), strides[0], strides[1],
                                   packed.mutable_data());
        return packed;
      },
      b);
  b.step.parameters.set("m", size.m);
  b.step.parameters.set("n", size.n);
  b.step.parameters.set("k", size.k);
  b.step.scratch_bytes = int8_tiles(size, problem.config().threads).scratch_bytes();
  b.estimate = estimate_seconds(2.0 * static_cast<double>(size.m * size.n * size.k),
                                static_cast<double>(weights.bytes()), 1.2);
  return {};
}

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_int8_step(plan, step);
  const Quantization q = int8_input(r);
  const ProductSize size{r.number("m", 1), r.number("n", 1), r.number("k", 1, kernels::kMaxInt8Sum)};
  r.product({size.m, size.n, size.k});
  r.check_elements(r.row_input(0, q.dtype), {size.m, size.k});
  return std::make_unique<Int8Kernel>(
      r, size, [q, k = size.k](const void* from, int64_t first, int64_t count, int16_t* rows) {
        const int64_t length = kernels::int8_row_length(k);
        const char* row = static_cast<const char*>(from) + first * k;
        const bool is_signed = q.dtype == DType::kInt8;
        if (length == k) return kernels::widen_int8(row, is_signed, q.zero_point, rows, count * k);
        for (int64_t r = 0; r < count; ++r, row += k, rows += length) {
          kernels::widen_int8(row, is_signed, q.zero_point, rows, k);
          rows[k] = 0;
        }
      });
}

}  // namespace

constinit const TacticDef def = {
    .name = "int8_matmul",
    .summary =
        "products of 8-bit integers with a constant matrix between DequantizeLinear and QuantizeLinear",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_int8_matmul
