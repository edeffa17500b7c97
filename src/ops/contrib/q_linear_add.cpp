// QLinearAdd: C = quantize(dequantize(A) + dequantize(B)), with NumPy broadcasting.
#include "ops/contrib/q_linear_binary.h"
#include "ops/contrib/quantized.h"
#include "ops/op_list.h"

namespace assay::op_ms_QLinearAdd {
namespace {

double add(double a, double b) { return a + b; }

void compute(EvalContext& c, double u, uint64_t key) { eval_q_linear_binary(c, u, key, add, add); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  A_scale: float
in  A_zero_point: T ?
in  B: T
in  B_scale: float
in  B_zero_point: T ?
in  C_scale: float
in  C_zero_point: T ?
out C: T
type T: uint8 int8)",
     infer_q_linear_binary, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearAdd",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 6,
        },
};

}  // namespace assay::op_ms_QLinearAdd
