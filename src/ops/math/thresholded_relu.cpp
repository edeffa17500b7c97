// ThresholdedRelu: y = x for x > alpha, 0 otherwise.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_ThresholdedRelu {
namespace {

void eval(EvalContext& c) {
  const double alpha = c.attr_float("alpha");
  c.set_output(0, map_elements<double>(c.input(0), [=](double x) { return x > alpha || x != x ? x : 0.0; }));
}

constexpr OpVersion kVersions[] = {
    {10, "same as Elu-6", infer_same_as_input, eval},
    {22, "same as Celu-28", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ThresholdedRelu",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kThresholdedRelu, .parameters = {"alpha"}},
            .jumps = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
            .element_attributes = {"alpha"},
        },
};

}  // namespace assay::op_onnx_ThresholdedRelu
