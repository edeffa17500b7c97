// BiasGelu: C = Gelu(A + B), with a vector B along the last dimension.
#include "ops/contrib/gelus.h"
#include "ops/contrib/hidden_vector.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ms_BiasGelu {
namespace {

void infer(InferContext& c) {
  check_hidden_vector(c, 1);
  infer_same_as_input(c);
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  c.check(!c.shape(0).empty(), "the input needs at least one dimension");
  const Tensor& bias = hidden_vector(c, 1, c.shape(0).back());
  outputs[0] = gelu(steps, steps.add(steps.given(c.input(0)), steps.given(bias)));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out C: T
type T: @float_ir4)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "BiasGelu",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_BiasGelu
