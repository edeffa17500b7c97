// Gelu: y = 0.5 x (1 + erf(x / sqrt(2))).
#include "ops/contrib/gelus.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ms_Gelu {
namespace {

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs[0] = gelu(steps, steps.given(c.input(0)));
}

constexpr OpVersion kVersions[] = {
    {1, "same as Ceil-13", infer_same_as_input, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "Gelu",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .elementwise = 1,
        },
};

}  // namespace assay::op_ms_Gelu
