// Greater: y = (a > b); false where one is NaN.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Greater {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T, bool>(c.input(0), c.input(1), [](T a, T b) { return a > b; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out C: T1
attr axis: int
attr broadcast: int = 0
type T: @float
type T1: bool)",
     infer_legacy_broadcast_bool, eval_legacy_broadcast<eval>},
    {7, R"(
in  A: T
in  B: T
out C: T1
type T: @float
type T1: bool)",
     infer_broadcast_bool, eval},
    {9, R"(
in  A: T
in  B: T
out C: T1
type T: @numeric
type T1: bool)",
     infer_broadcast_bool, eval},
    {13, R"(
in  A: T
in  B: T
out C: T1
type T: @numeric_ir4
type T1: bool)",
     infer_broadcast_bool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Greater",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kGreater},
            .steps = {.first = 1, .second = -1},
            .commutes_with_cast = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_Greater
