// MatMul: matrix product as numpy.matmul: the last two dimensions multiply, the others broadcast; a vector is
// a row on the left and a column on the right.
#include "ops/multiply_accumulates.h"
#include "ops/nn/matrix_product.h"
#include "ops/op_list.h"

namespace assay::op_onnx_MatMul {
namespace {

void infer(InferContext& c) {
  std::optional<Dims> dims = infer_product_dims(c, 0, 1);
  if (dims)
    c.set_output(0, c.input_dtype(0), std::move(*dims));
  else
    c.set_output(0, c.input_dtype(0));
}

void eval(EvalContext& c) { c.set_output(0, matrix_product(c.input(0), c.input(1))); }

bool rough(EvalContext& c, kernels::ApproxOf what) {
  std::optional<Tensor> y = rough_matrix_product(what, c.input(0), c.input(1));
  if (y) c.set_output(0, std::move(*y));
  return y.has_value();
}

bool stacks(const EvalContext& c) { return c.shape(0).size() >= 2 && c.shape(1).size() == 2; }

int64_t terms(EvalContext& c) { return c.shape(0).back(); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out Y: T
type T: @float)",
     infer, eval},
    {9, R"(
in  A: T
in  B: T
out Y: T
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {13, R"(
in  A: T
in  B: T
out Y: T
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "MatMul",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .rough = rough, .stacks = stacks},
    .facts =
        {
            .overflows = 2,
            .is_total = true,
            .product = ProductFact::kFloats,
            .sums = SumsFact::kProducts,
            .multiply_accumulates = mat_mul_macs,
        },
};

}  // namespace assay::op_onnx_MatMul
