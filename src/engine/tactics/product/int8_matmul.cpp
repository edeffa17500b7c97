// MatMul and Gemm of 8-bit integers with a constant matrix, from DequantizeLinear to QuantizeLinear.
#include "engine/tactics/product/int8_matmul_kernel.h"
#include "engine/tactics/product/int8_product.h"
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
  if (std::string reason = read_int8(problem, p.left, p.right, channel_axis, operands); !reason.empty())
    return reason;
  if (std::string reason = int8_sum_refusal(size, false); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  const kernels::Int8Weights weights{size.n, size.k};
  write_int8(
      problem, operands, p.left, p.right, p.bias, p.bias_scale, p.epilogue, size.n, {},
      fmt::format("int8 {}{} in panels of {}, fours together", p.b.shape.str(), p.b.strides[0],
                  kernels::kInt8Columns),
      [weights, source = *operands.weights, strides = p.b.strides] {
        Tensor packed = Tensor::allocate(DType::kUInt8, Shape{weights.bytes()});
        kernels::pack_int8_weights(weights, int8_numbers(source).data(), strides[0], strides[1],
                                   packed.mutable_data());
        return packed;
      },
      b);
  b.write(ProductFields{.size = size});
  b.step.scratch_bytes = int8_scratch(size, problem.config().threads);
  b.estimate = estimate_seconds(2.0 * static_cast<double>(size.m * size.n * size.k),
                                static_cast<double>(weights.bytes()), int8_efficiency(false));
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "int8_matmul",
    .summary =
        "products of 8-bit integers with a constant matrix between DequantizeLinear and QuantizeLinear",
    .version = 8,
    .operators = kOperators,
    .takes_regions = true,
    .looks_up = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_int8_matmul
