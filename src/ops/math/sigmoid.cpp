// Sigmoid: y = 1 / (1 + e^-x).
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/beside.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Sigmoid {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return 1 / (1 + std::exp(-x)); }));
}

/// The value may also come from tanh, which leaves an absolute error where y is small.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double, double y) { return sigmoid_error(y); });
}

Tensor beside(const Tensor& x, const Tensor& y, const Tensor& lane) {
  return beside_elements(
      x, y, lane,
      [](double y, double d) {
        const double e = small_expm1(-d);
        return y - y * (1 - y) * e / (1 + (1 - y) * e);
      },
      [](double x) { return 1 / (1 + std::exp(-x)); });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Abs-1", infer_same_as_input, eval},
    {6, "same as Ceil-6", infer_same_as_input, eval},
    {13, "same as Ceil-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Sigmoid",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .beside = beside},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kSigmoid},
            .sign = SignOfResult::kPositive,
            .gates = true,
        },
};

}  // namespace assay::op_onnx_Sigmoid
