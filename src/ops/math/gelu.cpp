// Gelu: y = 0.5 * x * (1 + erf(x / sqrt(2))); with approximate = "tanh", y = 0.5 * x * (1 + tanh(sqrt(2 /
// pi) * (x + 0.044715 * x^3))).
#include <cmath>
#include <numbers>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Gelu {
namespace {

constexpr double kTanhScale = 0.79788456080286535588;  // sqrt(2 / pi)

bool uses_tanh(const OpContext& c) {
  const std::string& approximate = c.attr_string("approximate");
  c.check(approximate == "none" || approximate == "tanh", "approximate must be none or tanh, not '{}'",
          approximate);
  return approximate == "tanh";
}

void infer(InferContext& c) {
  uses_tanh(c);
  infer_same_as_input(c);
}

double tanh_argument(double x) { return kTanhScale * (x + 0.044715 * x * x * x); }

void eval(EvalContext& c) {
  // Without cancellation: 1 + tanh(t) is 2 / (1 + e^-2t), and 1 + erf(z) is erfc(-z).
  const Tensor& x = c.input(0);
  if (uses_tanh(c))
    c.set_output(0,
                 map_elements<double>(x, [](double x) { return x / (1 + std::exp(-2 * tanh_argument(x))); }));
  else
    c.set_output(
        0, map_elements<double>(x, [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }));
}

/// The error of erf or tanh, and that of its argument through the slope, stay when the sum with 1 cancels;
/// then the sum and the products round.
template <typename F>
Tensor bound_with(EvalContext& c, double u, const Tensor& y, F erf_errs) {
  if (uses_tanh(c))
    return bound_elements(c, y, u, [](double x, double y) {
      const double t = tanh_argument(x), value = std::tanh(t);
      const double argument = 7 * std::abs(t) * (1 - value * value);
      return 0.5 * std::abs(x) * (kInverseUlps * std::abs(value) + argument) + 3 * std::abs(y);
    });
  return bound_elements(c, y, u, [=](double x, double y) {
    const double z = x / std::numbers::sqrt2;
    const double argument = 2 * std::abs(z) * 2 * std::numbers::inv_sqrtpi * std::exp(-z * z);
    return 0.5 * std::abs(x) * (erf_errs(std::erf(z)) + argument) + 3 * std::abs(y);
  });
}

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) { return bound_with(c, u, y, erf_error); }
Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  return bound_with(c, u, y, expected_erf_error);
}

std::optional<kernels::PointwiseOp> instruction(const OpContext& c) {
  return c.attr_string("approximate") == "tanh" ? kernels::PointwiseOp::kGeluTanh
                                                : kernels::PointwiseOp::kGelu;
}

constexpr OpVersion kVersions[] = {
    {20, R"(
in  X: T
out Y: T
attr approximate: string = "none"
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Gelu",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kGelu, .choose = instruction},
        },
};

}  // namespace assay::op_onnx_Gelu
