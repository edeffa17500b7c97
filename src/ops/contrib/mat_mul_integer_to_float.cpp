// MatMulIntegerToFloat: Y = A * B * a_scale * b_scale + bias, with quantized A and B less their zero points.
// B may have a scale and a zero point per column, A has one of each.
#include "ops/contrib/quantized_product.h"
#include "ops/infer_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"
#include "ops/work.h"

namespace assay::op_ms_MatMulIntegerToFloat {
namespace {

enum Input { kA, kB, kAScale, kBScale, kAZero, kBZero, kBias };

void infer(InferContext& c) {
  std::optional<Dims> dims = infer_product_dims(c, kA, kB);
  if (!dims) return c.set_output(0, c.input_dtype(kAScale));
  if (const Dims* bias = c.has_input(kBias) ? c.input_dims(kBias) : nullptr) broadcast_dims(*dims, *bias);
  c.set_output(0, c.input_dtype(kAScale), std::move(*dims));
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  Traced y = scaled_product(c, steps, steps.given(quantized_data(c, kA, kAZero)),
                            scalar_parameter(c, kAScale), {kB, kBScale, kBZero});
  outputs[0] = add_bias(c, steps, std::move(y), kBias);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T1
in  B: T2
in  a_scale: T3
in  b_scale: T3
in  a_zero_point: T1 ?
in  b_zero_point: T2 ?
in  bias: T3 ?
out Y: T3
type T1: int8 uint8
type T2: int8 uint8
type T3: float float16)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "MatMulIntegerToFloat",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .extra_steps = row_product_steps,
        },
};

}  // namespace assay::op_ms_MatMulIntegerToFloat
