// Rounding errors of element-wise functions in a float library: building blocks of Numerics::bound.
// Errors are in units of the unit roundoff u, to first order; docs/internals/numerics.md explains the model.
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"

namespace assay {

/// Relative error of a float library's exp, log, sine and the like: four units in the last place (a unit is
/// at most 2 u). OpenCL C allows three for exp and log and four for the sine; measured libraries stay below
/// that.
inline constexpr double kLibraryUlps = 8;
/// The same for tan, tanh and the inverse functions: five units, as OpenCL C allows.
inline constexpr double kInverseUlps = 10;
/// Absolute error of a library's sigmoid with value s: through exp, or as 0.5 + 0.5 tanh(x / 2), whose errors
/// do not vanish where s is small.
inline double sigmoid_error(double s) { return kLibraryUlps * s + 4; }
/// Absolute error of a library's erf with value e. The rational approximation of Abramowitz and Stegun
/// (7.1.26) that libraries use promises an absolute error of 1.5e-7, which is 2.5 u of float32; computed in
/// float32 it has one of up to 10.2 u, near 0.
inline double erf_error(double e) { return kLibraryUlps * std::abs(e) + 11; }
/// The error to expect of it.
inline double expected_erf_error(double e) { return kLibraryUlps * std::abs(e) + 3; }
/// Absolute error of ln(1 + exp(x)) = s as it stands: exp, sum, logarithm.
inline double softplus_error(double s) { return kLibraryUlps * (s + 1) + 1; }

/// The roundings of the whole sum that n additions amount to: at most n; if they are independent and the
/// terms of one sign, about sqrt(n / 3) (docs/internals/numerics.md).
inline double expected_additions(double n) { return std::sqrt(n / 3); }

/// Error that clamping z to [0, 1] leaves of an error `e` in z.
inline double clamp_error(double z, double e) {
  const double y = std::clamp(z, 0.0, 1.0);
  return std::max(std::clamp(z + e, 0.0, 1.0) - y, y - std::clamp(z - e, 0.0, 1.0));
}

/// The bound u * f(x, y) for each element x of input 0 and y of the output; 0 where y is not finite.
template <typename F>
Tensor bound_elements(const EvalContext& c, const Tensor& y, double u, F f) {
  return map_broadcast<double>(c.input(0), y,
                               [=](double x, double y) { return std::isfinite(y) ? u * f(x, y) : 0.0; });
}

}  // namespace assay
