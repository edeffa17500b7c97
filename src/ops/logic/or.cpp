// Or: y = a or b.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Or {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_broadcast<bool>(c.input(0), c.input(1), [](bool a, bool b) { return a || b; }));
}

constexpr OpVersion kVersions[] = {
    {1, "same as And-1", infer_legacy_broadcast_bool, eval_legacy_broadcast<eval>},
    {7, "same as And-7", infer_broadcast_bool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Or",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kOr},
            .commutative = true,
        },
};

}  // namespace assay::op_onnx_Or
