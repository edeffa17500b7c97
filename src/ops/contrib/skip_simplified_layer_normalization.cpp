// SkipSimplifiedLayerNormalization: input + skip + bias divided by the root mean square over the last
// dimension,
// * gamma; on request the inverse of every row, and the sum. There is no mean: that output is 0.
#include "ops/contrib/layer_norm.h"
#include "ops/op_list.h"

namespace assay::op_ms_SkipSimplifiedLayerNormalization {
namespace {

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs.resize(4);
  outputs[3] = skip_sum(c, steps, 3);
  outputs[0] = rms_norm(c, steps, outputs[3], 2, &outputs[2]);
  if (c.wants_output(1)) outputs[1] = steps.given(Tensor::zeros(DType::kFloat64, outputs[2].value.shape()));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
in  skip: T
in  gamma: T
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
    .name = "SkipSimplifiedLayerNormalization",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .mixes_axis = true,
        },
};

}  // namespace assay::op_ms_SkipSimplifiedLayerNormalization
