#include "tensor/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "tensor/statistics_select.h"

namespace assay {
namespace {

constexpr int64_t kGrain = 32;  // blocks
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

/// The least and the greatest element, and the first blocks that hold them.
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

/// What the first pass learns.
template <typename T>
struct FirstPass {
  Moments moments;
  Range<T> range;
  int64_t first_nan = -1;
  std::vector<int64_t> leading;  ///< counts by leading bits; empty when there are few elements

  void add(const FirstPass& other) {
    moments.add(other.moments);
    range.add(other.range);
    if (other.first_nan >= 0 && (first_nan < 0 || other.first_nan < first_nan)) first_nan = other.first_nan;
    for (size_t i = 0; i < leading.size(); ++i) leading[i] += other.leading[i];
  }
};

template <typename T>
class FirstPassWorker {
 public:
  explicit FirstPassWorker(bool count) : counts_(count ? size_t{1} << internal::kLeadingBits : 0) {
    result_.leading.resize(counts_.size());
  }

  /// False once a NaN was found: nothing else matters then.
  bool operator()(const T* p, int64_t n, int64_t first) {
    Range<T> range;
    if (!range_of_block(p, n, first / Numbers::kBlock, range)) {
      result_.first_nan = first + (std::find_if(p, p + n, [](T x) { return x != x; }) - p);
      return false;
    }
    result_.range.add(range);
    result_.moments.add(moments_of_block(p, n));
    if (!counts_.empty()) {
      for (int64_t i = 0; i < n; ++i) ++counts_[internal::leading_bits(p[i])];
      counted_ += n;
      if (counted_ > INT32_MAX) spill();
    }
    return true;
  }

  FirstPass<T>& finish() {
    spill();
    return result_;
  }

 private:
  /// Narrow counters stay in the cache; before they overflow their counts move on.
  void spill() {
    for (size_t i = 0; i < counts_.size(); ++i) result_.leading[i] += std::exchange(counts_[i], 0);
    counted_ = 0;
  }

  FirstPass<T> result_;
  std::vector<uint32_t> counts_;
  int64_t counted_ = 0;
};

template <typename T>
FirstPass<T> first_pass(const Numbers& numbers) {
  const bool count = numbers.size() > internal::kSelectDirectly;
  FirstPass<T> total;
  if (count) total.leading.resize(size_t{1} << internal::kLeadingBits);
  std::mutex mutex;
  parallel_for(numbers.block_count(), kGrain, [&](int64_t begin, int64_t end) {
    FirstPassWorker<T> worker(count);
    for_each_block<T>(numbers, begin, end, worker);
    const FirstPass<T>& mine = worker.finish();
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

/// Two neighbours in the sorted order and the weight of the second.
struct Interpolation {
  int64_t below, above;
  double weight;

  static Interpolation at(int64_t count, double quantile) {
    const double position = static_cast<double>(count - 1) * quantile;
    const auto below = std::min(count - 1, static_cast<int64_t>(position));
    return {below, std::min(count - 1, below + 1), position - static_cast<double>(below)};
  }
  /// NumPy's formula, which decides what becomes of infinities.
  double between(double a, double b) const {
    const double difference = b - a;
    return weight >= 0.5 ? b - difference * (1 - weight) : a + difference * weight;
  }
};

void add_quantiles(const Numbers& numbers, const std::vector<int64_t>& leading, std::optional<double> extra,
                   Statistics& s) {
  const std::array<Interpolation, 5> wanted = {
      Interpolation{(s.count - 1) / 2, s.count / 2, 0}, Interpolation::at(s.count, 0.9),
      Interpolation::at(s.count, 0.95), Interpolation::at(s.count, 0.99),
      Interpolation::at(s.count, extra.value_or(0.5))};
  std::vector<int64_t> ranks;
  for (const Interpolation& w : wanted) ranks.insert(ranks.end(), {w.below, w.above});
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const std::vector<double> values = internal::order_statistics(numbers, leading, s.zero_count, ranks);
  const auto value_at = [&](int64_t rank) {
    return values[static_cast<size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin())];
  };
  const auto quantile = [&](size_t i) {
    return wanted[i].between(value_at(wanted[i].below), value_at(wanted[i].above));
  };
  const double low = value_at(wanted[0].below), high = value_at(wanted[0].above);
  s.median = wanted[0].below == wanted[0].above ? low : (low + high) / 2;
  s.p90 = quantile(1);
  s.p95 = quantile(2);
  s.p99 = quantile(3);
  if (extra) s.quantile = quantile(4);
}

Statistics all_nan(int64_t count, int64_t first) {
  Statistics s = constant_statistics(count, kNan);
  s.std_dev = s.variance = kNan;
  s.min_index = s.max_index = first;
  return s;
}

template <typename T>
Statistics statistics_of(const Numbers& numbers, std::optional<double> quantile) {
  const FirstPass<T> pass = first_pass<T>(numbers);
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
  add_quantiles(numbers, pass.leading, quantile, s);
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
