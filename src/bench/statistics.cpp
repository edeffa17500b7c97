#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::bench {
namespace {

double median_of_sorted(std::span<const double> sorted) {
  if (sorted.empty()) return 0;
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return median_of_sorted(values);
}

double percentile(std::span<const double> sorted, double percent) {
  if (sorted.empty()) return 0;
  const auto n = static_cast<int64_t>(sorted.size());
  const auto left_out = static_cast<int64_t>((100 - percent) * static_cast<double>(n) / 100);
  return sorted[static_cast<size_t>(std::clamp<int64_t>(n - 1 - left_out, 0, n - 1))];
}

Summary summarize(std::vector<double> values, std::span<const double> percents) {
  Summary s;
  s.count = values.size();
  for (const double p : percents) s.percentiles.emplace_back(p, 0);
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  s.min = values.front();
  s.max = values.back();
  s.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  s.median = median_of_sorted(values);
  for (auto& [percent, value] : s.percentiles) value = percentile(values, percent);
  double squares = 0;
  for (const double v : values) squares += (v - s.mean) * (v - s.mean);
  if (s.mean > 0) s.variation = 100 * std::sqrt(squares / n) / s.mean;
  return s;
}

}  // namespace assay::bench
