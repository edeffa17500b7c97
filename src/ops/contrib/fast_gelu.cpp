// FastGelu: y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) with x = X + bias, a vector along the last
// dimension.
#include "ops/contrib/gelus.h"
#include "ops/contrib/hidden_vector.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ms_FastGelu {
namespace {

void infer(InferContext& c) {
  check_hidden_vector(c, 1);
  infer_same_as_input(c);
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  Traced x = steps.given(c.input(0));
  if (c.has_input(1)) {
    c.check(!c.shape(0).empty(), "the input needs at least one dimension");
    x = steps.add(x, steps.given(hidden_vector(c, 1, c.shape(0).back())));
  }
  outputs[0] = fast_gelu(steps, x);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  bias: T ?
out Y: T
type T: @float_ir4)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "FastGelu",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .elementwise = 2,
        },
};

}  // namespace assay::op_ms_FastGelu
