// Arithmetic of ONNX's element types: integers wrap as two's complement, floats are what IEEE 754 says.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace assay {

/// The type in which T is added and multiplied without signed overflow.
template <typename T>
using Wrapping = typename std::conditional_t<
    std::is_floating_point_v<T>, std::type_identity<T>,
    std::conditional_t<(sizeof(T) < 4), std::type_identity<uint32_t>, std::make_unsigned<T>>>::type;

template <typename T>
constexpr T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <typename T>
constexpr T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <typename T>
constexpr T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
/// -a; the lowest integer stays itself.
template <typename T>
constexpr T wrap_negate(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return -a;
  else
    return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(a));
}

template <typename T>
constexpr bool is_nan(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return a != a;
  else
    return false;
}
/// The larger of the two; NaN when one is NaN.
template <typename T>
constexpr T larger(T a, T b) {
  return a > b || is_nan(a) ? a : b;
}
/// The smaller of the two; NaN when one is NaN.
template <typename T>
constexpr T smaller(T a, T b) {
  return a < b || is_nan(a) ? a : b;
}

/// x with its fraction cut off, as an integer; the nearest limit when it does not fit, 0 for NaN. long
/// double, because its 64 bits of precision hold every integer type.
template <typename T>
T truncate_to(long double x) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(x)) return T(0);
  if (x <= static_cast<long double>(Limits::min())) return Limits::min();
  if (x >= static_cast<long double>(Limits::max())) return Limits::max();
  return static_cast<T>(x);
}

}  // namespace assay
