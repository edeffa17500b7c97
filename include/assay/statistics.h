// Statistics of a tensor's elements: moments, extremes and quantiles.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "assay/api.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {

/// Statistics as reports print them, computed in double. As in NumPy, one NaN makes all of them NaN, and an
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
  double quantile = std::numeric_limits<double>::infinity();  ///< the requested one
  int64_t zero_count = 0;  ///< elements equal to 0; not counted when there is a NaN

  bool has_nan() const { return max_index >= 0 && max != max; }
  /// No NaN and no infinity.
  bool all_finite() const { return max - max == 0 && min - min == 0; }
};

/// NumPy's histogram: bin i holds the numbers in [edges[i], edges[i + 1]), the last bin its upper edge too;
/// numbers outside the range and NaN are not counted. Both ends equal: the range is 0.5 wider on either side.
struct Histogram {
  static constexpr int kBins = 10;
  std::vector<double> edges;    ///< kBins + 1
  std::vector<int64_t> counts;  ///< kBins
};

/// Statistics of all elements; the default values above when there are none. `quantile` in [0, 1] requests an
/// additional quantile. Throws Error (kInvalidArgument) for a quantile out of range, for strings and for
/// complex numbers.
Statistics statistics(const Tensor& tensor, std::optional<double> quantile = {});

}  // namespace assay
