// A number together with a bound of its rounding error: running error analysis (Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd ed., section 3.3), to first order.
//
// An evaluation that is written as a template over its number type computes results with double and error
// bounds with Rounded, by the same code.
#pragma once

#include <cmath>

#include "ops/numerics/rounding.h"

namespace assay {

/// value is exact up to double; the same steps in an arithmetic with unit roundoff u err by up to u * error.
struct Rounded {
  double value = 0;
  double error = 0;

  Rounded() = default;
  Rounded(double exact) : value(exact) {}  // NOLINT: numbers without error convert
  Rounded(double v, double e) : value(v), error(e) {}

  Rounded& operator+=(const Rounded& o) { return *this = *this + o; }
  friend Rounded operator+(const Rounded& a, const Rounded& b) {
    const double v = a.value + b.value;
    return {v, a.error + b.error + std::fabs(v)};
  }
  friend Rounded operator-(const Rounded& a) { return {-a.value, a.error}; }
  friend Rounded operator-(const Rounded& a, const Rounded& b) { return a + -b; }
  friend Rounded operator*(const Rounded& a, const Rounded& b) {
    const double v = a.value * b.value;
    return {v, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + std::fabs(v)};
  }
  friend Rounded operator/(const Rounded& a, const Rounded& b) {
    const double v = a.value / b.value;
    return {v, (a.error + std::fabs(v) * b.error) / std::fabs(b.value) + std::fabs(v)};
  }
};

inline double value_of(double x) { return x; }
inline double value_of(const Rounded& x) { return x.value; }

/// f(x) as a library computes it; `slope` is f's derivative there.
inline Rounded rounded_call(double value, double slope, const Rounded& x) {
  return {value, std::fabs(slope) * x.error + kLibraryUlps * std::fabs(value)};
}
inline Rounded exp(const Rounded& x) {
  const double v = std::exp(x.value);
  return rounded_call(v, v, x);
}
inline Rounded tanh(const Rounded& x) {
  const double v = std::tanh(x.value);
  return rounded_call(v, 1 - v * v, x);
}
inline Rounded sqrt(const Rounded& x) {
  const double v = std::sqrt(x.value);
  return {v, (v == 0 ? 0 : 0.5 * x.error / v) + v};
}
inline Rounded pow(const Rounded& x, double exponent) {
  const double v = std::pow(x.value, exponent);
  return rounded_call(v, exponent == 0 ? 0 : exponent * std::pow(x.value, exponent - 1), x);
}

}  // namespace assay
