// And: y = a and b.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/op_list.h"

namespace assay::op_onnx_And {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_broadcast<bool>(c.input(0), c.input(1), [](bool a, bool b) { return a && b; }));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out C: T1
attr axis: int
attr broadcast: int = 0
type T: bool
type T1: bool)",
     infer_legacy_broadcast_bool, eval_legacy_broadcast<eval>},
    {7, R"(
in  A: T
in  B: T
out C: T1
type T: bool
type T1: bool)",
     infer_broadcast_bool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "And",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kAnd},
            .commutative = true,
        },
};

}  // namespace assay::op_onnx_And
