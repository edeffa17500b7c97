// Celu: y = max(0, x) + min(0, alpha * (e^(x / alpha) - 1)).
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Celu {
namespace {

void eval(EvalContext& c) {
  const double alpha = c.attr_float("alpha");
  c.set_output(0, map_elements<double>(c.input(0), [=](double x) {
                 return x > 0 ? x : alpha * std::expm1(x / alpha);  // the sign of either term is that of x
               }));
}

/// The rounding of x / alpha through the exponential, and the error of that, stay when 1 is subtracted.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double alpha = c.attr_float("alpha");
  return bound_elements(c, y, u, [=](double x, double y) {
    const double z = x / alpha;
    return x > 0 ? 0.0 : std::abs(alpha) * (kLibraryUlps + 2 * std::abs(z)) * std::exp(z) + 4 * std::abs(y);
  });
}

constexpr OpVersion kVersions[] = {
    {12, R"(
in  X: T
out Y: T
attr alpha: float = 1
type T: float)",
     infer_same_as_input, eval},
    {28, R"(
in  X: T
out Y: T
attr alpha: float = 1
type T: @float_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Celu",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kCelu, .parameters = {"alpha"}},
        },
};

}  // namespace assay::op_onnx_Celu
