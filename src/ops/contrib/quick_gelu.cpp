// QuickGelu: y = x sigmoid(alpha x).
#include "ops/contrib/gelus.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ms_QuickGelu {
namespace {

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs[0] = quick_gelu(steps, steps.given(c.input(0)), c.attr_float("alpha"));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr alpha: float = 1.70200002
type T: @float_ir4)",
     infer_same_as_input, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QuickGelu",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .elementwise = 1,
        },
};

}  // namespace assay::op_ms_QuickGelu
