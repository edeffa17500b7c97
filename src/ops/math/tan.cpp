// Tan: the tangent of x radians.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Tan {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::tan(x); }));
}

/// The absolute error of range reduction, times the tangent's slope 1 + y^2.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double x, double y) {
    return kInverseUlps * std::abs(y) + (1 + y * y) * std::min(1.0, std::abs(x));
  });
}

constexpr OpVersion kVersions[] = {
    {7, "same as Acos-7", infer_same_as_input, eval},
    {22, "same as Acos-22", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Tan",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kTan},
        },
};

}  // namespace assay::op_onnx_Tan
