// DynamicQuantizeMatMul: A is quantized to uint8 with the scale and zero point that its own range, widened to
// include 0, asks for (DynamicQuantizeLinear), then Y = A * B * a_scale * b_scale + bias as in
// MatMulIntegerToFloat.
#include <cmath>

#include "ops/contrib/quantized_product.h"
#include "ops/contrib/standard.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"
#include "ops/work.h"
#include "tensor/convert.h"

namespace assay::op_ms_DynamicQuantizeMatMul {
namespace {

enum Input { kA, kB, kBScale, kBZero, kBias };

void infer(InferContext& c) {
  std::optional<Dims> dims = infer_product_dims(c, kA, kB);
  if (!dims) return c.set_output(0, c.input_dtype(kA));
  if (const Dims* bias = c.has_input(kBias) ? c.input_dims(kBias) : nullptr) broadcast_dims(*dims, *bias);
  c.set_output(0, c.input_dtype(kA), std::move(*dims));
}

/// The quantized A less the zero point. Its bound is a whole step where float arithmetic may round either
/// way.
Traced quantized(EvalContext& c, Steps& steps, double scale, const Tensor& levels) {
  if (!steps.bounds()) return steps.given(levels);
  Traced a = steps.given(levels);
  const double* x = c.input(kA).data<double>();
  const double* level = levels.data<double>();
  double* error = a.error.mutable_data<double>();
  for (int64_t i = 0; i < levels.numel(); ++i) {
    const double off = std::fabs(x[i] / scale - level[i]);
    error[i] = off > 0.5 - 512 * steps.u() ? 1 : 0;
  }
  return a;
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const std::vector<Tensor> dynamic =
      evaluate_as(c, op_onnx_DynamicQuantizeLinear::def, 11, {c.input(kA)}, 3);
  const double scale = to_float64(dynamic[1]).item<double>(), zero = to_float64(dynamic[2]).item<double>();
  const Tensor levels = map_elements<double>(to_float64(dynamic[0]), [=](double x) { return x - zero; });
  const Traced a = quantized(c, steps, scale, levels);
  Traced y = scaled_product(c, steps, a, scale, {kB, kBScale, kBZero});
  outputs[0] = add_bias(c, steps, std::move(y), kBias);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T1
in  B: T2
in  b_scale: T1
in  b_zero_point: T2 ?
in  bias: T1 ?
out Y: T1
type T1: float
type T2: int8 uint8)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "DynamicQuantizeMatMul",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll, .infinities = true}}},
            .extra_steps = row_product_steps,
        },
};

}  // namespace assay::op_ms_DynamicQuantizeMatMul
