// Sign: 1 for x > 0, -1 for x < 0, 0 for 0; NaN stays NaN.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Sign {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [](T x) {
                   return is_nan(x) ? x : static_cast<T>((x > T(0)) - (x < T(0)));
                 }));
  });
}

constexpr OpVersion kVersions[] = {
    {9, "same as Erf-9", infer_same_as_input, eval},
    {13, R"(
in  input: T
out output: T
type T: @numeric_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Sign",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kSign},
            .idempotent = true,
            .steps = {.first = 1},
            .gives_whole = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_Sign
