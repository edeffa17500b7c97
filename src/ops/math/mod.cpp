// Mod: y = a - floor(a / b) * b, with the sign of b; with fmod = 1, y = a - trunc(a / b) * b, with the
// sign of a. Integers may not be divided by zero. Before version 28 floats need fmod = 1.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/extent_math.h"
#include "ops/math/int_div.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Mod {
namespace {

bool truncates(const OpContext& c) {
  const int64_t fmod = c.attr_int("fmod");
  c.check(fmod == 0 || fmod == 1, "fmod must be 0 or 1, not {}", fmod);
  return fmod == 1;
}

void check_fmod(const OpContext& c, DType dtype) {
  c.check(truncates(c) || c.since() >= 28 || !is_float(dtype), "elements of type {} need fmod = 1",
          dtype_name(dtype));
}

Element floor_elements(const Element& a, const Element& b) {
  if (!a.number || !b.number || *b.number == 0) return {};
  return Element(floor_remainder(*a.number, *b.number));
}

void infer(InferContext& c) {
  check_fmod(c, c.input_dtype(0));
  infer_broadcast(c);
  if (!truncates(c)) propagate(c, floor_elements);
}

/// std::fmod has the sign of a; the floored remainder has that of b, zero included.
double floor_remainder_of_floats(double a, double b) {
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

template <typename T>
Tensor remainder(EvalContext& c) {
  const bool truncate = truncates(c);
  if constexpr (std::is_floating_point_v<T>) {
    if (truncate) return map_broadcast<T>(c.input(0), c.input(1), [](T a, T b) { return std::fmod(a, b); });
    return map_broadcast<T>(c.input(0), c.input(1), floor_remainder_of_floats);
  } else {
    check_divisors<T>(c);
    if (truncate)
      return map_broadcast<T>(c.input(0), c.input(1), [](T a, T b) { return truncating_remainder(a, b); });
    return map_broadcast<T>(c.input(0), c.input(1), [](T a, T b) { return floor_remainder(a, b); });
  }
}

void eval(EvalContext& c) {
  check_fmod(c, c.input(0).dtype());
  visit_numeric(c.input(0).dtype(), [&]<typename T>() { c.set_output(0, remainder<T>(c)); });
}

/// fmod is exact, so only the sum that changes its sign rounds.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const double factor = truncates(c) ? 0 : u;
  return map_elements<double>(y, [=](double y) { return std::isfinite(y) ? factor * std::abs(y) : 0.0; });
}

std::optional<kernels::PointwiseOp> instruction(const OpContext& c) {
  return c.attr_int("fmod") != 0 ? kernels::PointwiseOp::kTruncMod : kernels::PointwiseOp::kFloorMod;
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  A: T
in  B: T
out C: T
attr fmod: int = 0
type T: @numeric)",
     infer, eval},
    {13, R"(
in  A: T
in  B: T
out C: T
attr fmod: int = 0
type T: @numeric_ir4)",
     infer, eval},
    {28, "same as Mod-13", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Mod",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kFloorMod, .choose = instruction},
            .jumps = true,
        },
};

}  // namespace assay::op_onnx_Mod
