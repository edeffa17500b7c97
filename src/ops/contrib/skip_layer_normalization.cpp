// SkipLayerNormalization: the layer normalization of input + skip + bias over the last dimension, * gamma +
// beta; on request mean and inverse deviation of every row, and the sum.
#include "ops/contrib/layer_norm.h"
#include "ops/op_list.h"

namespace assay::op_ms_SkipLayerNormalization {
namespace {

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs.resize(4);
  outputs[3] = skip_sum(c, steps, 4);
  outputs[0] = layer_norm(c, steps, outputs[3], {.gamma = 2, .beta = 3}, &outputs[1], &outputs[2]);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
in  skip: T
in  gamma: T
in  beta: T ?
in  bias: T ?
out output: T
out mean: U ?
out inv_std_var: U ?
out input_skip_bias_sum: T ?
attr epsilon: float = 9.99999996e-13
type T: float float16 bfloat16
type U: float)",
     infer_skip_norm, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "SkipLayerNormalization",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .mixes_axis = true,
        },
};

}  // namespace assay::op_ms_SkipLayerNormalization
