#include "tensor/statistics.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/parallel.h"
#include "tensor/statistics_brackets.h"
#include "tensor/statistics_radix.h"

namespace assay {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Sums over some elements without NaN.
struct Moments {
  int64_t count = 0;
  int64_t zeros = 0;
  double sum = 0;
  double magnitude = 0;  ///< sum of the absolute values
  double squares = 0;    ///< sum of the squared distances from the mean

  void add(const Moments& other) {
    if (other.count == 0) return;
    if (count != 0) {
      const auto n = static_cast<double>(count), m = static_cast<double>(other.count);
      const double distance = other.sum / m - sum / n;
      squares += distance * distance * (n * m / (n + m));
    }
    squares += other.squares;
    count += other.count;
    zeros += other.zeros;
    sum += other.sum;
    magnitude += other.magnitude;
  }
};

/// The smallest and the largest element, and the first blocks that hold them.
template <typename T>
struct Range {
  T min{}, max{};
  int64_t min_block = -1, max_block = -1;

  void add(const Range& other) {
    if (other.min_block < 0) return;
    if (min_block < 0 || other.min < min || (other.min == min && other.min_block < min_block)) {
      min = other.min;
      min_block = other.min_block;
    }
    if (max_block < 0 || other.max > max || (other.max == max && other.max_block < max_block)) {
      max = other.max;
      max_block = other.max_block;
    }
  }
};

/// The range of one block; false if it holds a NaN.
template <typename T>
bool range_of_block(const T* p, int64_t n, int64_t block, Range<T>& range) {
  T min = p[0], max = p[0];
  int unordered = 0;
#pragma omp simd reduction(min : min) reduction(max : max) reduction(| : unordered)
  for (int64_t i = 0; i < n; ++i) {
    const T x = p[i];
    min = x < min ? x : min;
    max = x > max ? x : max;
    unordered |= x != x;
  }
  range = {min, max, block, block};
  return unordered == 0;
}

template <typename T>
Moments moments_of_block(const T* p, int64_t n) {
  double sum = 0, magnitude = 0;
  int32_t zeros = 0;
#pragma omp simd reduction(+ : sum, magnitude)
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(p[i]);
    sum += x;
    magnitude += std::fabs(x);
  }
#pragma omp simd reduction(+ : zeros)
  for (int64_t i = 0; i < n; ++i) zeros += p[i] == T{0};
  const double mean = sum / static_cast<double>(n);
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < n; ++i) {
    const double distance = static_cast<double>(p[i]) - mean;
    squares += distance * distance;
  }
  return {n, zeros, sum, magnitude, squares};
}

/// The results of one pass. Each thread has its own, with the same brackets.
template <typename T>
struct Pass {
  Moments moments;
  Range<T> range;
  int64_t first_nan = -1;
  internal::Brackets<T> brackets;

  /// Processes a block; false once a NaN was found, which makes the rest irrelevant.
  bool operator()(const T* p, int64_t n, int64_t first) {
    Range<T> of_block;
    if (!range_of_block(p, n, first / Numbers::kBlock, of_block)) {
      first_nan = first + (std::find_if(p, p + n, [](T x) { return x != x; }) - p);
      return false;
    }
    range.add(of_block);
    moments.add(moments_of_block(p, n));
    brackets.scan(p, n);
    return true;
  }

  void add(const Pass& other) {
    moments.add(other.moments);
    range.add(other.range);
    if (other.first_nan >= 0 && (first_nan < 0 || other.first_nan < first_nan)) first_nan = other.first_nan;
    brackets.merge(other.brackets);
  }
};

template <typename T>
Pass<T> run_pass(const Numbers& numbers, const internal::Brackets<T>& brackets) {
  Pass<T> total{.brackets = brackets};
  std::mutex mutex;
  parallel_for(numbers.block_count(), Numbers::kGrain, [&](int64_t begin, int64_t end) {
    Pass<T> mine{.brackets = brackets};
    for_each_block<T>(numbers, begin, end, mine);
    const std::lock_guard lock(mutex);
    total.add(mine);
  });
  return total;
}

/// Index of the first element that equals `value` in a block known to hold it, and that element (a zero has
/// two signs).
template <typename T>
std::pair<int64_t, double> locate(const Numbers& numbers, int64_t block, T value) {
  Numbers::Scratch scratch;
  const T* p = static_cast<const T*>(numbers.block(block, scratch));
  const T* at = std::find(p, p + numbers.block_size(block), value);
  return {block * Numbers::kBlock + (at - p), static_cast<double>(*at)};
}

/// A quantile: two neighbours in the sorted order and the weight of the second.
struct Quantile {
  internal::RankPair ranks;
  double weight = 0;

  static Quantile at(int64_t count, double quantile) {
    const double position = static_cast<double>(count - 1) * quantile;
    const auto below = std::min(count - 1, static_cast<int64_t>(position));
    return {{below, std::min(count - 1, below + 1)}, position - static_cast<double>(below)};
  }
  /// NumPy's formula, which determines the treatment of infinities.
  double of(const internal::ValuePair& v) const {
    const double difference = v.above - v.below;
    return weight >= 0.5 ? v.above - difference * (1 - weight) : v.below + difference * weight;
  }
};

/// The median's ranks, then those of p90, p95, p99 and, if asked for, one more quantile.
struct Quantiles {
  std::vector<Quantile> quantiles;
  std::vector<internal::RankPair> ranks;

  Quantiles(int64_t count, std::optional<double> extra) {
    ranks.push_back({(count - 1) / 2, count / 2});
    std::vector<double> wanted = {0.9, 0.95, 0.99};
    if (extra) wanted.push_back(*extra);
    for (const double q : wanted) {
      quantiles.push_back(Quantile::at(count, q));
      ranks.push_back(quantiles.back().ranks);
    }
  }

  void store(const std::vector<internal::ValuePair>& values, Statistics& s) const {
    const internal::ValuePair& middle = values[0];
    s.median = ranks[0].below == ranks[0].above ? middle.below : (middle.below + middle.above) / 2;
    s.p90 = quantiles[0].of(values[1]);
    s.p95 = quantiles[1].of(values[2]);
    s.p99 = quantiles[2].of(values[3]);
    if (quantiles.size() > 3) s.quantile = quantiles[3].of(values[4]);
  }
};

Statistics all_nan(int64_t count, int64_t first) {
  Statistics s = constant_statistics(count, kNan);
  s.std_dev = s.variance = kNan;
  s.min_index = s.max_index = first;
  return s;
}

template <typename T>
Statistics statistics_of(const Numbers& numbers, std::optional<double> quantile) {
  const Quantiles wanted(numbers.size(), quantile);
  const Pass<T> pass = run_pass(numbers, internal::Brackets<T>::from_sample(numbers, wanted.ranks));
  if (pass.first_nan >= 0) return all_nan(numbers.size(), pass.first_nan);

  const auto count = static_cast<double>(numbers.size());
  Statistics s;
  s.count = numbers.size();
  s.zero_count = pass.moments.zeros;
  s.mean = pass.moments.sum / count;
  s.average_magnitude = pass.moments.magnitude / count;
  std::tie(s.min_index, s.min) = locate(numbers, pass.range.min_block, pass.range.min);
  std::tie(s.max_index, s.max) = locate(numbers, pass.range.max_block, pass.range.max);
  if (pass.range.min == pass.range.max && s.all_finite()) return constant_statistics(s.count, s.min);
  s.variance = s.all_finite() ? pass.moments.squares / count : kNan;
  s.std_dev = std::sqrt(s.variance);
  const auto values = pass.brackets.values(wanted.ranks);
  wanted.store(values ? *values : internal::select_by_radix(numbers, wanted.ranks), s);
  return s;
}

}  // namespace

Statistics statistics(const Numbers& numbers, std::optional<double> quantile) {
  require(!quantile || (*quantile >= 0 && *quantile <= 1), ErrorCode::kInvalidArgument,
          "a quantile lies between 0 and 1, but {} was asked for", quantile.value_or(0));
  if (numbers.size() == 0) return {};
  return visit_kind(numbers.kind(), [&]<typename T>() { return statistics_of<T>(numbers, quantile); });
}

Statistics statistics(const Tensor& tensor, std::optional<double> quantile) {
  return statistics(TensorNumbers(tensor), quantile);
}

Statistics constant_statistics(int64_t count, double value) {
  Statistics s;
  s.count = count;
  if (count == 0) return s;
  s.mean = s.median = s.min = s.max = s.p90 = s.p95 = s.p99 = s.quantile = value;
  s.min_index = s.max_index = 0;
  s.average_magnitude = std::fabs(value);
  s.zero_count = value == 0 ? count : 0;
  return s;
}

}  // namespace assay
