// Elu: y = alpha * (e^x - 1) for x < 0, x otherwise.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Elu {
namespace {

void eval(EvalContext& c) {
  const double alpha = c.attr_float("alpha");
  c.set_output(0,
               map_elements<double>(c.input(0), [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; }));
}

/// The error of e^x stays when 1 is subtracted; alpha, the difference and the product round.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double alpha = std::abs(c.attr_float("alpha"));
  return bound_elements(c, y, u, [=](double x, double y) {
    return x < 0 ? alpha * kLibraryUlps * std::exp(x) + 3 * std::abs(y) : 0.0;
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr consumed_inputs: ints
attr alpha: float = 1
type T: @float)",
     infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
attr alpha: float = 1
type T: @float)",
     infer_same_as_input, eval},
    {22, "same as Celu-28", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Elu",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kElu, .parameters = {"alpha"}},
        },
};

}  // namespace assay::op_onnx_Elu
