// MatMulInteger with a constant matrix: exact sums of products of 8-bit integers less their zero points, and
// the float32 numbers that they become.
#include "engine/tactics/product/integer_matmul_kernel.h"
#include "engine/tactics/product/integer_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_integer_matmul {
namespace {

constexpr std::string_view kOperators[] = {"MatMulInteger"};

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.region().result_transposed != nullptr) return "the result is transposed";
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  const UnalignedTensor* const w = p.input_constant(1);
  if (w == nullptr || w->shape().rank() != 2) return "the right operand is not a constant matrix";
  if (p.input_shape(0)->size() < 1 || p.output_shape(0)->numel() == 0 || w->shape()[0] == 0)
    return "there is nothing to do";
  const ProductSize size{p.output_shape(0)->numel() / w->shape()[1], w->shape()[1], w->shape()[0]};
  if (std::string reason = integer_refusal(p, size.n); !reason.empty()) return reason;
  if (std::string reason = int8_sum_refusal(size, false); !reason.empty()) return reason;
  const kernels::Int8Weights weights{size.n, size.k};
  Candidate& b =
      proposals.add({}, p.region().epilogue.empty() ? NumericsClass::kExact : NumericsClass::kReassociated);
  write_integer(
      p, {}, 1, fmt::format("levels in panels of {}, fours together", kernels::kInt8Columns),
      [weights](const std::vector<int16_t>& numbers) {
        Tensor packed = Tensor::allocate(DType::kUInt8, Shape{weights.bytes()});
        kernels::pack_int8_weights(weights, numbers.data(), weights.n, 1, packed.mutable_data());
        return packed;
      },
      b);
  b.write(ProductFields{.size = size});
  b.step.scratch_bytes = int8_scratch(size, p.config().threads);
  b.estimate = estimate_seconds(2.0 * static_cast<double>(size.m * size.n * size.k),
                                static_cast<double>(weights.bytes()), 2);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "integer_matmul",
    .summary = "exact products of 8-bit integers with a constant matrix, as int32 or on in float32",
    .version = 4,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_integer_matmul
