#include "ops/contrib/gelus.h"

#include <cmath>
#include <numbers>

#include "ops/math/swish.h"
#include "ops/numerics/rounding.h"

namespace assay {
namespace {

/// No slope of these functions exceeds this: that of Gelu is largest, 1.129 at sqrt(2).
constexpr double kLargestSlope = 1.13;

constexpr double kTanhScale = 0.79788456080286535588;  // sqrt(2 / pi)

double tanh_argument(double x) { return kTanhScale * (x + 0.044715 * x * x * x); }

}  // namespace

Traced gelu(Steps& steps, const Traced& x) {
  return steps.map(
      x, [](double v) { return 0.5 * v * std::erfc(-v / std::numbers::sqrt2); }, kLargestSlope,
      [](double v, double y) {
        const double z = v / std::numbers::sqrt2;
        const double argument = 2 * std::fabs(z) * 2 * std::numbers::inv_sqrtpi * std::exp(-z * z);
        return 0.5 * std::fabs(v) * (erf_error(std::erf(z)) + argument) + 3 * std::fabs(y);
      });
}

Traced fast_gelu(Steps& steps, const Traced& x) {
  return steps.map(
      x, [](double v) { return v / (1 + std::exp(-2 * tanh_argument(v))); }, kLargestSlope,
      [](double v, double y) {
        const double t = tanh_argument(v), value = std::tanh(t);
        const double argument = 8 * std::fabs(t) * (1 - value * value);
        return 0.5 * std::fabs(v) * (kInverseUlps * std::fabs(value) + argument) + 3 * std::fabs(y);
      });
}

Traced quick_gelu(Steps& steps, const Traced& x, double alpha) {
  return steps.map(
      x, [=](double v) { return swish(v, alpha); }, kLargestSlope,
      [=](double v, double) { return swish_error(v, alpha); });
}

}  // namespace assay
