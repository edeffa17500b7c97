// QLinearLeakyRelu: Y = quantize(x) where x = dequantize(X) is not negative, else quantize(alpha * x).
#include <algorithm>
#include <cmath>

#include "ops/contrib/q_linear_unary.h"
#include "ops/op_list.h"

namespace assay::op_ms_QLinearLeakyRelu {
namespace {

void compute(EvalContext& c, double u, uint64_t key) {
  const double alpha = c.attr_float("alpha");
  eval_q_linear_unary(
      c, u, key, [=](double x) { return x < 0 ? alpha * x : x; },
      std::max(1.0, std::fabs(alpha)) * largest_operand(c, {0, 1, 2}));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  X_scale: float
in  X_zero_point: T ?
in  Y_scale: float
in  Y_zero_point: T ?
out Y: T
attr alpha: float = 0.00999999978
type T: uint8 int8)",
     infer_q_linear_unary, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearLeakyRelu",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 3,
        },
};

}  // namespace assay::op_ms_QLinearLeakyRelu
