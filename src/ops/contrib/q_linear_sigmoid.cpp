// QLinearSigmoid: Y = quantize(1 / (1 + e^-x)) with x = dequantize(X).
#include <cmath>

#include "ops/contrib/q_linear_unary.h"
#include "ops/op_list.h"

namespace assay::op_ms_QLinearSigmoid {
namespace {

void compute(EvalContext& c, double u, uint64_t key) {
  eval_q_linear_unary(
      c, u, key, [](double x) { return 1 / (1 + std::exp(-x)); }, 1);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  X_scale: float
in  X_zero_point: T ?
in  Y_scale: float
in  Y_zero_point: T ?
out Y: T
type T: uint8 int8)",
     infer_q_linear_unary, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearSigmoid",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 3,
        },
};

}  // namespace assay::op_ms_QLinearSigmoid
