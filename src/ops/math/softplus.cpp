// Softplus: y = ln(e^x + 1).
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Softplus {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) {
                 return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
               }));
}

/// The sum rounds near 1, so the error is absolute for negative x.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double, double y) { return softplus_error(y); });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Ceil-6", infer_same_as_input, eval},
    {22, "same as Ceil-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Softplus",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kSoftplus},
            .sign = SignOfResult::kPositive,
            .gates = true,
        },
};

}  // namespace assay::op_onnx_Softplus
