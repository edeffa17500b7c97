// HardSigmoid: y = max(0, min(1, alpha * x + beta)).
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_HardSigmoid {
namespace {

void eval(EvalContext& c) {
  const double alpha = c.attr_float("alpha"), beta = c.attr_float("beta");
  c.set_output(
      0, map_elements<double>(c.input(0), [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); }));
}

/// The roundings of alpha, beta, the product and the sum, as far as clamping lets them through.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double alpha = c.attr_float("alpha"), beta = c.attr_float("beta");
  return bound_elements(c, y, u, [=](double x, double) {
    const double z = alpha * x + beta;
    return clamp_error(z, 2 * std::abs(alpha * x) + std::abs(z) + std::abs(beta));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr consumed_inputs: ints
attr beta: float = 0.5
attr alpha: float = 0.200000003
type T: @float)",
     infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
attr beta: float = 0.5
attr alpha: float = 0.200000003
type T: @float)",
     infer_same_as_input, eval},
    {22, R"(
in  X: T
out Y: T
attr beta: float = 0.5
attr alpha: float = 0.200000003
type T: @float_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "HardSigmoid",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kHardSigmoid, .parameters = {"alpha", "beta"}},
            .sign = SignOfResult::kNotNegative,
            .gates = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_HardSigmoid
