#include "compare/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "base/parallel.h"
#include "base/python_repr.h"

namespace assay {
namespace {

constexpr int kBins = Histogram::kBins;

/// numpy.linspace(low, high, kBins + 1) in the arithmetic of T.
template <typename T>
std::vector<double> even_edges(T low, T high) {
  if (low == high) {
    low -= T{0.5};
    high += T{0.5};
  }
  const T step = (high - low) / T{kBins};
  std::vector<double> edges;
  for (int i = 0; i < kBins; ++i) edges.push_back(static_cast<T>(i) * step + low);
  edges.push_back(high);
  return edges;
}

using Counts = std::array<int64_t, kBins + 2>;

/// The smallest T that is not below the edge (`strictly`: that is above it), so that no element has to be
/// widened.
template <typename T>
T first_from(double edge, bool strictly) {
  T limit = static_cast<T>(edge);
  const auto value = static_cast<double>(limit);
  if (value < edge || (strictly && value == edge))
    limit = std::nextafter(limit, std::numeric_limits<T>::infinity());
  return limit;
}

/// Adds, for each edge, the number of elements that are not below it, and last of those that are above all.
template <typename T>
void count_from_edges(const T* p, int64_t n, const std::vector<double>& edges, Counts& counts) {
  using Limit = std::conditional_t<std::is_floating_point_v<T>, T, double>;
  for (int e = 0; e <= kBins + 1; ++e) {
    const Limit limit = first_from<Limit>(edges[static_cast<size_t>(std::min(e, kBins))], e > kBins);
    int32_t found = 0;
#pragma omp simd reduction(+ : found)
    for (int64_t i = 0; i < n; ++i) found += static_cast<Limit>(p[i]) >= limit;
    counts[static_cast<size_t>(e)] += found;
  }
}

Counts count_all(const Numbers& numbers, const std::vector<double>& edges) {
  Counts counts{};
  std::mutex mutex;
  visit_kind(numbers.kind(), [&]<typename T>() {
    parallel_for(numbers.block_count(), Numbers::kGrain, [&](int64_t begin, int64_t end) {
      Counts mine{};
      for_each_block<T>(numbers, begin, end, [&](const T* p, int64_t n, int64_t) {
        count_from_edges(p, n, edges, mine);
        return true;
      });
      const std::lock_guard lock(mutex);
      for (size_t i = 0; i < mine.size(); ++i) counts[i] += mine[i];
    });
  });
  return counts;
}

/// The edges in the type in which NumPy has them: that of the numbers, if they are floats.
std::vector<double> edges_for(DType kind, const HistogramRange& range) {
  if (kind != DType::kFloat32) return even_edges(range.low, range.high);
  if (range.detected) return even_edges(static_cast<float>(range.low), static_cast<float>(range.high));
  std::vector<double> edges = even_edges(range.low, range.high);
  for (double& edge : edges) edge = static_cast<float>(edge);
  return edges;
}

std::string left(const std::string& text, size_t width) { return fmt::format("{:<{}}", text, width); }

}  // namespace

Histogram histogram(const Numbers& numbers, const HistogramRange& range) {
  require(std::isfinite(range.low) && std::isfinite(range.high), ErrorCode::kInvalidArgument,
          "{} range of [{}, {}] is not finite", range.detected ? "autodetected" : "supplied",
          python_float_repr(range.low), python_float_repr(range.high));
  Histogram h;
  h.edges = edges_for(numbers.kind(), range);
  const bool ascending = std::adjacent_find(h.edges.begin(), h.edges.end(),
                                            [](double a, double b) { return !(a < b); }) == h.edges.end();
  require(ascending, ErrorCode::kInvalidArgument,
          "Too many bins for data range. Cannot create {} finite-sized bins.", kBins);
  const Counts from = count_all(numbers, h.edges);
  for (size_t i = 0; i < kBins; ++i) h.counts.push_back(from[i] - from[i + 1]);
  h.counts.back() += from[kBins] - from[kBins + 1];
  return h;
}

HistogramRange own_range(const Statistics& statistics) { return {statistics.min, statistics.max, true}; }

HistogramRange common_range(const Statistics& a, const Statistics& b) {
  return {b.min < a.min ? b.min : a.min, b.max > a.max ? b.max : a.max};
}

std::optional<Histogram> try_histogram(const Numbers& numbers, const HistogramRange& range,
                                       std::string* problem) {
  try {
    return histogram(numbers, range);
  } catch (const Error& e) {
    if (problem != nullptr) *problem = e.message();
    return std::nullopt;
  }
}

std::string histogram_text(const Numbers& numbers, const HistogramRange& range, std::string* problem) {
  const std::optional<Histogram> h = try_histogram(numbers, range, problem);
  return h ? histogram_text(*h) : "";
}

std::string histogram_text(const Histogram& h) {
  const int64_t most = h.counts.empty() ? 0 : *std::max_element(h.counts.begin(), h.counts.end());
  if (most == 0) return "";

  std::vector<std::string> edges;
  for (const double edge : h.edges) edges.push_back(format_g(edge, 3));
  const auto shorter = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
  const size_t start_width = std::max_element(edges.begin(), edges.end(), shorter)->size();
  const size_t end_width = std::max_element(edges.begin() + 1, edges.end(), shorter)->size();
  std::string text = "---- Histogram ----\n";
  text += left("Bin Range", start_width + end_width + 5) + "|  Num Elems | Visualization\n";
  for (size_t i = 0; i < kBins; ++i) {
    const auto length =
        static_cast<size_t>(40.0 * static_cast<double>(h.counts[i]) / static_cast<double>(most));
    text += fmt::format("({}, {}) | {:10} | {}\n", left(edges[i], start_width), left(edges[i + 1], end_width),
                        h.counts[i], std::string(length, '#'));
  }
  return text;
}

}  // namespace assay
