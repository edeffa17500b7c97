// Pow: y = x^e in the type of x; the exponent may have another type. An integer to an integer power wraps;
// to a negative power it is truncated, and zero may not be inverted. An integer to a fractional power is
// truncated.
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/math/wrapping.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Pow {
namespace {

/// base^exponent by squaring, modulo 2^bits.
template <typename T>
T integer_power(T base, uint64_t exponent) {
  T result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = wrap_mul(result, base);
    base = wrap_mul(base, base);
  }
  return result;
}

template <typename T, typename E>
T power(T x, E e) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(x, static_cast<T>(e));
  } else if constexpr (std::is_floating_point_v<E>) {
    return truncate_to<T>(std::pow(static_cast<long double>(x), static_cast<long double>(e)));
  } else {
    if (e >= E(0)) return integer_power(x, static_cast<uint64_t>(e));
    // 1 / x^-e truncated; eval has refused x = 0.
    if (x == T(1)) return T(1);
    return x == T(-1) ? (e % 2 == 0 ? T(1) : T(-1)) : T(0);
  }
}

/// Throws Error when 0 is raised to a negative integer.
template <typename T, typename E>
void check_zero_base(const EvalContext& c) {
  const Tensor bad =
      map_broadcast_mixed<T, E, bool>(c.input(0), c.input(1), [](T x, E e) { return x == T(0) && e < E(0); });
  const auto span = bad.span<bool>();
  c.check(std::find(span.begin(), span.end(), true) == span.end(),
          "the integer 0 is raised to a negative power");
}

template <typename T, typename E>
void eval_as(EvalContext& c) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<E> && std::is_integral_v<E>)
    check_zero_base<T, E>(c);
  c.set_output(0, map_broadcast_mixed<T, E, T>(c.input(0), c.input(1), [](T x, E e) { return power(x, e); }));
}

void eval(EvalContext& c) {
  visit_dtype<double, int64_t, int32_t>(c.input(0).dtype(), [&]<typename T>() {
    visit_numeric(c.input(1).dtype(), [&]<typename E>() { eval_as<T, E>(c); });
  });
}

/// As e^(exponent * ln x): the errors of the logarithm and of the product grow with the magnitude of the
/// argument, which is |ln y|.
Tensor bound(EvalContext&, double u, size_t, const Tensor& y) {
  return map_elements<double>(y, [=](double y) {
    if (!std::isfinite(y) || y == 0) return 0.0;
    return u * std::abs(y) * (kLibraryUlps + (kLibraryUlps + 1) * std::abs(std::log(std::abs(y))));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  Y: T
out Z: T
attr axis: int
attr broadcast: int = 0
type T: @float)",
     infer_legacy_broadcast, eval_legacy_broadcast<eval>},
    {7, R"(
in  X: T
in  Y: T
out Z: T
type T: @float)",
     infer_broadcast, eval},
    {12, R"(
in  X: T
in  Y: T1
out Z: T
type T: @float int32 int64
type T1: @numeric)",
     infer_broadcast, eval},
    {13, R"(
in  X: T
in  Y: T1
out Z: T
type T: @float_ir4 int32 int64
type T1: @numeric)",
     infer_broadcast, eval},
    {15, R"(
in  X: T
in  Y: T1
out Z: T
type T: @float_ir4 int32 int64
type T1: @numeric_ir4)",
     infer_broadcast, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Pow",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kPow},
            .overflows = 2,
        },
};

}  // namespace assay::op_onnx_Pow
