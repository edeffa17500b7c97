// Division of integers as Div and Mod do it: the lowest value divided by -1 wraps, and zero divisors are
// refused beforehand.
#pragma once

#include <algorithm>
#include <type_traits>

#include "ops/math/wrapping.h"
#include "ops/op_context.h"

namespace assay {

/// Throws Error when an element of input 1 is 0 and there is something to divide.
template <typename T>
void check_divisors(const EvalContext& c) {
  const auto divisors = c.input(1).span<T>();
  c.check(c.input(0).numel() == 0 || std::find(divisors.begin(), divisors.end(), T(0)) == divisors.end(),
          "an integer is divided by zero");
}

/// a / b: the quotient of floats, or the integer quotient rounded towards zero.
template <typename T>
constexpr T truncating_quotient(T a, T b) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
    if (b == T(-1)) return wrap_negate(a);
  return static_cast<T>(a / b);
}

/// a - trunc(a / b) * b: the sign of a.
template <typename T>
constexpr T truncating_remainder(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return T(0);
  return static_cast<T>(a % b);
}

/// a - floor(a / b) * b: the sign of b.
template <typename T>
constexpr T floor_remainder(T a, T b) {
  const T r = truncating_remainder(a, b);
  return r != T(0) && (r < T(0)) != (b < T(0)) ? wrap_add(r, b) : r;
}

}  // namespace assay
