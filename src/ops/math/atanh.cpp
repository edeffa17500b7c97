// Atanh: the inverse hyperbolic tangent; NaN outside [-1, 1].
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Atanh {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::atanh(x); }));
}

constexpr OpVersion kVersions[] = {
    {9, "same as Acos-7", infer_same_as_input, eval},
    {22, "same as Acos-22", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Atanh",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = kInverseUlps},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kAtanh},
        },
};

}  // namespace assay::op_onnx_Atanh
