// QLinearMul: C = quantize(dequantize(A) * dequantize(B)), with NumPy broadcasting.
#include "ops/contrib/q_linear_binary.h"
#include "ops/contrib/quantized.h"
#include "ops/op_list.h"

namespace assay::op_ms_QLinearMul {
namespace {

double multiply(double a, double b) { return a * b; }

void compute(EvalContext& c, double u, uint64_t key) { eval_q_linear_binary(c, u, key, multiply, multiply); }

constexpr OpVersion kVersions[] = {
    {1, "same as com.microsoft.QLinearAdd-1", infer_q_linear_binary, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearMul",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 6,
        },
};

}  // namespace assay::op_ms_QLinearMul
