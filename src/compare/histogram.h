// Histograms of ten bins as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/statistics.h"
#include "tensor/numbers.h"
#include "tensor/statistics.h"

namespace assay {

/// The range that the bins divide evenly.
struct HistogramRange {
  double low = 0, high = 0;
  /// True for the range of the numbers themselves. NumPy then divides it in float32 if they are float32, and
  /// its errors reflect that; other ranges are divided in float64.
  bool detected = false;
};

/// Throws Error (kInvalidArgument) when the range is not finite or too narrow for kBins different edges.
Histogram histogram(const Numbers& numbers, const HistogramRange& range);

/// The same; nothing if the range is invalid, with the reason in `problem`.
std::optional<Histogram> try_histogram(const Numbers& numbers, const HistogramRange& range,
                                       std::string* problem = nullptr);

/// The numbers' own range.
HistogramRange own_range(const Statistics& statistics);
/// From the smaller of the minima to the larger of the maxima, as Python's min() and max() find them: a NaN
/// counts only if it comes first.
HistogramRange common_range(const Statistics& a, const Statistics& b);

/// Polygraphy's text: a title, a heading and a line with a bar per bin. Empty when all bins are.
std::string histogram_text(const Histogram& histogram);
/// The same for the numbers' histogram. Empty when there is none; `problem`: why a range is invalid.
std::string histogram_text(const Numbers& numbers, const HistogramRange& range,
                           std::string* problem = nullptr);

}  // namespace assay
