// GreaterOrEqual: y = (a >= b); false where one is NaN.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_GreaterOrEqual {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T, bool>(c.input(0), c.input(1), [](T a, T b) { return a >= b; }));
  });
}

constexpr OpVersion kVersions[] = {
    {12, "same as Greater-9", infer_broadcast_bool, eval},
    {16, "same as Greater-13", infer_broadcast_bool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GreaterOrEqual",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kGreaterOrEqual},
            .steps = {.first = 1, .second = -1},
            .commutes_with_cast = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_GreaterOrEqual
