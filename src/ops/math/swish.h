// The gate of Swish and SwiGLU.
#pragma once

#include <cmath>

#include "ops/numerics/rounding.h"

namespace assay {

/// x * sigmoid(alpha * x).
inline double swish(double x, double alpha) { return x / (1 + std::exp(-alpha * x)); }

/// Its absolute error in units of u: the rounding of alpha and of the argument through the sigmoid's slope,
/// the error of the sigmoid, and the product.
inline double swish_error(double x, double alpha) {
  const double s = 1 / (1 + std::exp(-alpha * x));
  return std::abs(x) * (2 * std::abs(alpha * x) * s * (1 - s) + sigmoid_error(s) + s);
}

}  // namespace assay
