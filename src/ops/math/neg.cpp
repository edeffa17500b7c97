// Neg: y = -x; the lowest integer stays itself.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Neg {
namespace {

void eval(EvalContext& c) {
  visit_dtype<double, int64_t, int32_t, int16_t, int8_t>(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [](T x) { return wrap_negate(x); }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Abs-1", infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
type T: @float int32 int8 int16 int64)",
     infer_same_as_input, eval},
    {13, R"(
in  X: T
out Y: T
type T: @float_ir4 int32 int8 int16 int64)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Neg",
    .versions = kVersions,
    .facts =
        {
            .moves = Moves::kSelected,
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kNeg},
            .is_ieee = true,
            .overflows = 1,
        },
};

}  // namespace assay::op_onnx_Neg
