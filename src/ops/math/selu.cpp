// Selu: y = gamma * (alpha * e^x - alpha) for x <= 0, gamma * x otherwise.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Selu {
namespace {

void eval(EvalContext& c) {
  const double alpha = c.attr_float("alpha"), gamma = c.attr_float("gamma");
  c.set_output(0, map_elements<double>(c.input(0), [=](double x) {
                 return x > 0 ? gamma * x : gamma * alpha * std::expm1(x);
               }));
}

/// The errors of e^x and of its product with alpha stay when alpha is subtracted; then as a product.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double scale = std::abs(c.attr_float("alpha") * c.attr_float("gamma"));
  return bound_elements(c, y, u, [=](double x, double y) {
    return x > 0 ? 2 * std::abs(y) : scale * (kLibraryUlps + 1) * std::exp(x) + 4 * std::abs(y);
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr consumed_inputs: ints
attr gamma: float = 1.05069995
attr alpha: float = 1.67320001
type T: @float)",
     infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
attr gamma: float = 1.05070102
attr alpha: float = 1.67326319
type T: @float)",
     infer_same_as_input, eval},
    {22, R"(
in  X: T
out Y: T
attr gamma: float = 1.05070102
attr alpha: float = 1.67326319
type T: @float_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Selu",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kSelu, .parameters = {"alpha", "gamma"}},
        },
};

}  // namespace assay::op_onnx_Selu
