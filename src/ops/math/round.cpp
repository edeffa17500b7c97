// Round: the nearest integer; halves go to the even one. -0, infinities and NaN stay.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Round {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::nearbyint(x); }));
}

constexpr OpVersion kVersions[] = {
    {11, "same as Ceil-6", infer_same_as_input, eval},
    {22, "same as Ceil-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Round",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kRound},
            .idempotent = true,
            .steps = {.first = 1},
            .gives_whole = true,
        },
};

}  // namespace assay::op_onnx_Round
