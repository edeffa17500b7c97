// What is kept of a metric over any number of samples. Tallies merge exactly, in any order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/exact_sum.h"

namespace assay::eval {

/// The kind of a metric's observations, which decides the figures.
enum class Kind : uint8_t {
  kProportion,  ///< 0 or 1: the share of ones
  kMean,        ///< numbers: their mean
  kPerplexity,  ///< negative logarithms of probabilities: the exponential of their mean
  kSet,         ///< numbers of each sample, of which a function makes one: there are no single observations
};

/// A sample and its value, by which the worst are ranked.
struct Ranked {
  int64_t sample = 0;
  double value = 0;
  bool operator==(const Ranked&) const = default;
};

/// The worst samples of a metric: those with NaN, then by value. Of equal ones the first counts.
class Ranking {
 public:
  Ranking() = default;
  Ranking(size_t most, bool low_is_worse) : most_(most), low_is_worse_(low_is_worse) {}
  /// Whether it is among the worst so far.
  bool add(const Ranked& ranked);
  void add(const Ranking& other);
  /// The worst first.
  const std::vector<Ranked>& list() const { return list_; }

 private:
  bool is_worse(const Ranked& a, const Ranked& b) const;
  size_t most_ = 0;
  bool low_is_worse_ = false;
  std::vector<Ranked> list_;
};

/// The result, with the 95 % confidence interval where there is one.
struct Figure {
  std::optional<double> value, low, high;
  std::optional<double> deviation;  ///< of the observations; kMean
};

/// Observations. NaN and infinities are counted apart: no figure has them.
class Tally {
 public:
  void add(double observation);
  void add(const Tally& other);
  /// Proportions: Wilson's interval. Means and perplexity: normal, from the exact sums.
  Figure figure(Kind kind) const;

  int64_t count = 0;  ///< of finite ones
  int64_t nan = 0, negative_infinity = 0, positive_infinity = 0;
  ExactSum sum, squares;                  ///< of the finite ones
  std::optional<double> least, greatest;  ///< the same
};

/// Times in buckets that never change, so that histograms add up: a bucket is a 128th of a power of two wide.
class TimeTally {
 public:
  void add(double seconds);
  void add(const TimeTally& other);
  /// The middle of the bucket that holds the `share`-th part of the times, at most 0.4 % off; nothing without
  /// times.
  std::optional<double> quantile(double share) const;

  int64_t count = 0;
  ExactSum sum;
  std::map<uint32_t, int64_t> buckets;  ///< by the first 19 bits of the number
};

}  // namespace assay::eval
