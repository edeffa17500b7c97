// Statistics of times.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace assay::bench {

/// Of a list of times; all in the unit of the list. Zeros for an empty list.
struct Summary {
  size_t count = 0;
  double min = 0, max = 0, mean = 0, median = 0;
  /// Percent and value, in the order asked for.
  std::vector<std::pair<double, double>> percentiles;
  /// Standard deviation in percent of the mean.
  double variation = 0;
};

/// The middle element, or the mean of the two in the middle. 0 for no elements.
double median(std::vector<double> values);

/// trtexec's percentile: of n sorted values, the last one after dropping int((1 - percent / 100) * n) of the
/// largest; the first if all are dropped. 0 for no elements.
double percentile(std::span<const double> sorted, double percent);

Summary summarize(std::vector<double> values, std::span<const double> percents);

}  // namespace assay::bench
