// Mish: y = x * tanh(softplus(x)), softplus(x) = ln(1 + e^x).
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Mish {
namespace {

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return x * std::tanh(softplus(x)); }));
}

/// The error of softplus through tanh's slope, and the roundings of tanh and of the product.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double x, double y) {
    const double s = softplus(x), slope = 1 - std::tanh(s) * std::tanh(s);
    return std::abs(x) * slope * softplus_error(s) + (kInverseUlps + 1) * std::abs(y);
  });
}

constexpr OpVersion kVersions[] = {
    {18, "same as Ceil-6", infer_same_as_input, eval},
    {22, "same as Ceil-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Mish",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kMish},
        },
};

}  // namespace assay::op_onnx_Mish
