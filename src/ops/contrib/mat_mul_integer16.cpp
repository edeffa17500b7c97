// MatMulInteger16: the matrix product of 16-bit integers in 32 bits; the sums wrap.
#include "ops/eval_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/op_list.h"
#include "tensor/convert.h"

namespace assay::op_ms_MatMulInteger16 {
namespace {

void infer(InferContext& c) {
  std::optional<Dims> dims = infer_product_dims(c, 0, 1);
  if (dims)
    c.set_output(0, DType::kInt32, std::move(*dims));
  else
    c.set_output(0, DType::kInt32);
}

void eval(EvalContext& c) {
  const Tensor a = convert(c.input(0), DType::kInt64), b = convert(c.input(1), DType::kInt64);
  const DType to = c.declared_dtype(0) == DType::kUInt32 ? DType::kUInt32 : DType::kInt32;
  c.set_output(0, convert(matrix_product(a, b), to));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T1
in  B: T2
out Y: T3
type T1: int16 uint16
type T2: int16 uint16
type T3: int32 uint32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "MatMulInteger16",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_ms_MatMulInteger16
