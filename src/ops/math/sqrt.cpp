// Sqrt: y = x^0.5; NaN for x < 0.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Sqrt {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::sqrt(x); }));
}

constexpr OpVersion kVersions[] = {
    {1, "same as Abs-1", infer_same_as_input, eval},
    {6, "same as Ceil-6", infer_same_as_input, eval},
    {13, "same as Ceil-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Sqrt",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kSqrt},
            .sign = SignOfResult::kNotNegative,
            .is_ieee = true,
        },
};

}  // namespace assay::op_onnx_Sqrt
