// Reciprocal: y = 1 / x. Libraries refine an estimate, which costs a second rounding.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Reciprocal {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return 1 / x; }));
}

constexpr OpVersion kVersions[] = {
    {1, "same as Abs-1", infer_same_as_input, eval},
    {6, "same as Ceil-6", infer_same_as_input, eval},
    {13, "same as Ceil-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Reciprocal",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 2},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kReciprocal},
            .is_ieee = true,
        },
};

}  // namespace assay::op_onnx_Reciprocal
