// BiasAdd: Y = X + bias + skip, with a vector bias along the channels, the last dimension.
#include "ops/contrib/hidden_vector.h"
#include "ops/infer_util.h"
#include "ops/numerics/steps.h"
#include "ops/op_list.h"

namespace assay::op_ms_BiasAdd {
namespace {

void infer(InferContext& c) {
  check_hidden_vector(c, 1);
  const int rank = c.input_rank(0);
  c.check(rank < 0 || rank == 3, "the input has {} dimensions where 3 are needed", rank);
  infer_same_as_input(c);
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const Shape& in = c.shape(0);
  c.check(in.size() == 3, "the input has shape {} where 3 dimensions are needed", in.str());
  c.check(c.shape(2) == in, "skip has shape {}, the input {}", c.shape(2).str(), in.str());
  const Traced x = steps.add(steps.given(c.input(0)), steps.given(hidden_vector(c, 1, in.back())));
  outputs[0] = steps.add(x, steps.given(c.input(2)));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  bias: T
in  skip: T
out Y: T
type T: float16 float)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "BiasAdd",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_BiasAdd
