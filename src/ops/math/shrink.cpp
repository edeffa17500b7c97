// Shrink: y = x + bias for x < -lambd, x - bias for x > lambd, 0 otherwise. Integers are compared and shifted
// exactly, then truncated.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/wrapping.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Shrink {
namespace {

template <typename T>
T shrink(T x, double lambd, double bias) {
  // long double holds every 64-bit integer.
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, long double>;
  const Wide wide = static_cast<Wide>(x);
  const Wide y = wide < -lambd ? wide + bias : wide > lambd ? wide - bias : is_nan(x) ? wide : Wide(0);
  if constexpr (std::is_floating_point_v<T>)
    return y;
  else
    return truncate_to<T>(y);
}

void eval(EvalContext& c) {
  const double lambd = c.attr_float("lambd"), bias = c.attr_float("bias");
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [=](T x) { return shrink(x, lambd, bias); }));
  });
}

/// The rounding of the bias to the type, and of the sum.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double bias = std::abs(c.attr_float("bias"));
  return bound_elements(c, y, u, [=](double, double y) { return y == 0 ? 0.0 : bias + std::abs(y); });
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  input: T
out output: T
attr bias: float = 0
attr lambd: float = 0.5
type T: @numeric)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Shrink",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kShrink, .parameters = {"lambd", "bias"}},
            .jumps = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
            .element_attributes = {"lambd", "bias"},
        },
};

}  // namespace assay::op_onnx_Shrink
