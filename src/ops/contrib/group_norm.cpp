// GroupNorm: every group of channels of an image by its own mean and variance, then * gamma + beta, one of
// each per channel; with activation 1 then x * sigmoid(x). Channels last unless the attribute says otherwise.
#include "ops/contrib/group_normalizer.h"
#include "ops/op_list.h"

namespace assay::op_ms_GroupNorm {
namespace {

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs[0] = group_norm(c, steps, steps.given(c.input(0)));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  gamma: M
in  beta: M
out Y: T
attr channels_last: int = 1
attr activation: int required
attr groups: int required
attr epsilon: float = 9.99999975e-06
type T: float16 float
type M: float16 float)",
     infer_group_norm, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "GroupNorm",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_GroupNorm
