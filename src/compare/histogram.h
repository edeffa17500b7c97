// Histograms of ten bins as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/numbers.h"
#include "tensor/statistics.h"

namespace assay {

/// The range that the bins divide evenly.
struct HistogramRange {
  double low = 0, high = 0;
  /// It is the range of the numbers themselves. NumPy then divides it in float32 when they are float32, and
  /// says so in errors; a range from elsewhere it divides in float64.
  bool detected = false;
};

/// NumPy's histogram: bin i holds the numbers in [edges[i], edges[i + 1]), the last bin its upper edge too;
/// numbers outside the range and NaN are not counted. Both ends equal: the range is 0.5 wider on either side.
struct Histogram {
  static constexpr int kBins = 10;
  std::vector<double> edges;    ///< kBins + 1
  std::vector<int64_t> counts;  ///< kBins
};

/// Throws Error (kInvalidArgument) when the range is not finite or too narrow for kBins different edges.
Histogram histogram(const Numbers& numbers, const HistogramRange& range);

/// The numbers' own range.
HistogramRange own_range(const Statistics& statistics);
/// From the smaller of the minima to the larger of the maxima, as Python's min() and max() find them: a NaN
/// counts only if it comes first.
HistogramRange common_range(const Statistics& a, const Statistics& b);

/// Polygraphy's text: a title, a heading and a line with a bar per bin. Empty when there is nothing to show;
/// why a range is impossible goes to `problem`.
std::string histogram_text(const Numbers& numbers, const HistogramRange& range,
                           std::string* problem = nullptr);

}  // namespace assay
