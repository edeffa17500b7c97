// Less: y = (a < b); false where one is NaN.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Less {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T, bool>(c.input(0), c.input(1), [](T a, T b) { return a < b; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Greater-1", infer_legacy_broadcast_bool, eval_legacy_broadcast<eval>},
    {7, "same as Greater-7", infer_broadcast_bool, eval},
    {9, "same as Greater-9", infer_broadcast_bool, eval},
    {13, "same as Greater-13", infer_broadcast_bool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Less",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kLess},
            .steps = {.first = -1, .second = 1},
            .commutes_with_cast = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_Less
