// Tanh: the hyperbolic tangent.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/beside.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Tanh {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::tanh(x); }));
}

Tensor beside(const Tensor& x, const Tensor& y, const Tensor& lane) {
  return beside_elements(
      x, y, lane,
      [](double y, double d) {
        const double t = small_tanh(d);
        return y + t * (1 - y * y) / (1 + y * t);
      },
      [](double x) { return std::tanh(x); });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Exp-1", infer_same_as_input, eval},
    {6, "same as Acos-7", infer_same_as_input, eval},
    {13, "same as Acos-22", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Tanh",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = kInverseUlps, .beside = beside},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kTanh},
            .gates = true,
        },
};

}  // namespace assay::op_onnx_Tanh
