// Ceil: the smallest integer >= x.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Ceil {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::ceil(x); }));
}

constexpr OpVersion kVersions[] = {
    {1, "same as Abs-1", infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
type T: @float)",
     infer_same_as_input, eval},
    {13, R"(
in  X: T
out Y: T
type T: @float_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Ceil",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kCeil},
            .idempotent = true,
            .steps = {.first = 1},
            .gives_whole = true,
        },
};

}  // namespace assay::op_onnx_Ceil
