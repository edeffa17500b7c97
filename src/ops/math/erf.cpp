// Erf: the error function. Version 9 also takes integers, whose result is truncated.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/wrapping.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Erf {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [](T x) {
                   const double y = std::erf(static_cast<double>(x));
                   if constexpr (std::is_same_v<T, double>)
                     return y;
                   else
                     return truncate_to<T>(y);
                 }));
  });
}

/// Rational approximations leave an absolute error near 0.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double, double y) { return erf_error(y); });
}

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_elements(c, y, u, [](double, double y) { return expected_erf_error(y); });
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  input: T
out output: T
type T: @numeric)",
     infer_same_as_input, eval},
    {13, "same as Acos-22", infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Erf",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kErf},
            .gates = true,
        },
};

}  // namespace assay::op_onnx_Erf
