// Not: y = not x.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Not {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<bool>(c.input(0), [](bool x) { return !x; }));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
type T: bool)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Not",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kNot},
        },
};

}  // namespace assay::op_onnx_Not
