// MatMulInteger: the matrix product of 8-bit integers less their zero points, in 32 bits.
#include "ops/multiply_accumulates.h"
#include "ops/nn/matrix_product.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"

namespace assay::op_onnx_MatMulInteger {
namespace {

void infer(InferContext& c) {
  std::optional<Dims> dims = infer_product_dims(c, 0, 1);
  if (dims)
    c.set_output(0, DType::kInt32, std::move(*dims));
  else
    c.set_output(0, DType::kInt32);
}

void eval(EvalContext& c) {
  c.set_output(0,
               to_int32(matrix_product(quantized_matrix(c, 0, 2, false), quantized_matrix(c, 1, 3, true))));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  A: T1
in  B: T2
in  a_zero_point: T1 ?
in  b_zero_point: T2 ?
out Y: T3
type T1: int8 uint8
type T2: int8 uint8
type T3: int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "MatMulInteger",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .product = ProductFact::kIntegers,
            .multiply_accumulates = mat_mul_macs,
        },
};

}  // namespace assay::op_onnx_MatMulInteger
