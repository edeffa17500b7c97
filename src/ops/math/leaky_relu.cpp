// LeakyRelu: y = alpha * x for x < 0, x otherwise.
// The bound counts the rounding of alpha to the type and the product.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_LeakyRelu {
namespace {

void eval(EvalContext& c) {
  const double alpha = c.attr_float("alpha");
  c.set_output(0, map_elements<double>(c.input(0), [=](double x) { return x < 0 ? alpha * x : x; }));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr consumed_inputs: ints
attr alpha: float = 0.00999999978
type T: @float)",
     infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
attr alpha: float = 0.00999999978
type T: @float)",
     infer_same_as_input, eval},
    {16, R"(
in  X: T
out Y: T
attr alpha: float = 0.00999999978
type T: @float_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LeakyRelu",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 2},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kLeakyRelu, .parameters = {"alpha"}},
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_LeakyRelu
