// What numbers are like: moments, extremes and quantiles of any number of elements in constant memory.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "tensor/numbers.h"

namespace assay {

/// The statistics that reports print, computed in double. As in NumPy, one NaN makes all of them NaN, and an
/// infinity makes variance and std_dev NaN.
struct Statistics {
  int64_t count = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double std_dev = 0;   ///< of the population
  double variance = 0;  ///< of the population
  double median = 0;
  double min = 0;
  double max = 0;
  int64_t min_index =
      -1;  ///< row-major index of the first minimum, of the first NaN if there is one; -1 if empty
  int64_t max_index = -1;
  double average_magnitude = std::numeric_limits<double>::quiet_NaN();
  double p90 = std::numeric_limits<double>::infinity();  ///< quantiles, interpolated linearly
  double p95 = std::numeric_limits<double>::infinity();
  double p99 = std::numeric_limits<double>::infinity();
  double quantile = std::numeric_limits<double>::infinity();  ///< the one asked for
  int64_t zero_count = 0;  ///< elements equal to 0; not counted when there is a NaN

  bool has_nan() const { return max_index >= 0 && max != max; }
  /// No NaN and no infinity.
  bool all_finite() const { return max - max == 0 && min - min == 0; }
};

/// Statistics of all elements; the default values above when there are none. `quantile` in [0, 1] asks for
/// one more quantile; throws Error (kInvalidArgument) outside. Reads the numbers once in parallel, after a
/// sample of them; a few times more when the sample is misleading.
Statistics statistics(const Numbers& numbers, std::optional<double> quantile = {});
/// Throws Error (kInvalidArgument) for strings and complex numbers.
Statistics statistics(const Tensor& tensor, std::optional<double> quantile = {});

/// The statistics of `count` numbers that all equal a finite `value`.
Statistics constant_statistics(int64_t count, double value);

}  // namespace assay
