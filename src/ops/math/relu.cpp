// Relu: y = max(x, 0); NaN stays NaN.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Relu {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [](T x) { return x < T(0) ? T(0) : x; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Abs-1", infer_same_as_input, eval},
    {6, "same as Ceil-6", infer_same_as_input, eval},
    {13, "same as Ceil-13", infer_same_as_input, eval},
    {14, "same as Neg-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Relu",
    .versions = kVersions,
    .facts =
        {
            .moves = Moves::kSelected,
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kRelu},
            .idempotent = true,
            .sign = SignOfResult::kNotNegative,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_Relu
