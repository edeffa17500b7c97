// Abs: y = |x|; the lowest integer stays itself.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Abs {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [](T x) {
                   if constexpr (std::is_floating_point_v<T>)
                     return std::abs(x);
                   else
                     return x < T(0) ? wrap_negate(x) : x;
                 }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr consumed_inputs: ints
type T: @float)",
     infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
type T: @numeric)",
     infer_same_as_input, eval},
    {13, R"(
in  X: T
out Y: T
type T: @numeric_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Abs",
    .versions = kVersions,
    .facts =
        {
            .moves = Moves::kSelected,
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kAbs},
            .idempotent = true,
            .sign = SignOfResult::kPositive,
            .is_ieee = true,
            .overflows = 1,
        },
};

}  // namespace assay::op_onnx_Abs
