// HardSwish: y = x * max(0, min(1, x / 6 + 0.5)).
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_HardSwish {
namespace {

void eval(EvalContext& c) {
  c.set_output(
      0, map_elements<double>(c.input(0), [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }));
}

/// The roundings of 1 / 6, the product and the sum that is clamped, then of the last product.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double x, double y) {
    const double z = x / 6 + 0.5;
    return std::abs(x) * clamp_error(z, 2 * std::abs(x / 6) + std::abs(z) + 0.5) + 3 * std::abs(y);
  });
}

constexpr OpVersion kVersions[] = {
    {14, "same as Ceil-6", infer_same_as_input, eval},
    {22, "same as Ceil-13", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "HardSwish",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kHardSwish},
        },
};

}  // namespace assay::op_onnx_HardSwish
