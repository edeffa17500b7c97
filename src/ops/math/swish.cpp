// Swish: y = x * sigmoid(alpha * x).
#include "ops/math/swish.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Swish {
namespace {

void eval(EvalContext& c) {
  const double alpha = c.attr_float("alpha");
  c.set_output(0, map_elements<double>(c.input(0), [=](double x) { return swish(x, alpha); }));
}

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double alpha = c.attr_float("alpha");
  return bound_elements(c, y, u, [=](double x, double) { return swish_error(x, alpha); });
}

/// There is none with a factor.
std::optional<kernels::PointwiseOp> instruction(const OpContext& c) {
  return c.attr_float("alpha") == 1 ? std::optional(kernels::PointwiseOp::kSilu) : std::nullopt;
}

constexpr OpVersion kVersions[] = {
    {24, "same as Celu-28", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Swish",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kSilu, .choose = instruction},
        },
};

}  // namespace assay::op_onnx_Swish
