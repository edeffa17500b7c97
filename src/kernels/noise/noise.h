// Random errors for many numbers together: as ops/numerics/noise.h draws them for each.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct RandomErrors {
  uint64_t key = 0;
  /// With repeats: a part half as large is drawn from this key, the same whenever it is given again
  /// (recurring_noise).
  uint64_t repeated_key = 0;
  bool repeats = false;
  double beside = 0;    ///< added to sizes above 0; alone it changes no sign, but gives 0
  double overflow = 0;  ///< results from here on, either sign, are infinite
};

/// out[i] = y[i] + size[i] * noise of place first + i, for i < count; NaN where y[i] is a number and size[i]
/// infinite, y[i] where that error is NaN otherwise.
/// `out` may be `y`.
void add_random_errors(const RandomErrors& errors, uint64_t first, int64_t count, const double* y,
                       const double* size, double* out) noexcept;

}  // namespace assay::kernels
