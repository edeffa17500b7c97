#include "eval/tally.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay::eval {
namespace {

/// The two-sided 95 % quantile of the normal distribution.
constexpr double kNormal95 = 1.959963984540054;
/// Beyond it squares overflow, and there is no interval.
constexpr double kLargestSquared = 1e140;
constexpr int kBucketShift = 64 - 12 - 7;

Figure proportion(double ones, double n) {
  const double p = ones / n, z2 = kNormal95 * kNormal95;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kNormal95 * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  return {.value = p, .low = std::max(0.0, middle - half), .high = std::min(1.0, middle + half)};
}

/// The sum of (x - mean)^2 over all observations, without cancellation.
double centered_squares(const Tally& t, double mean) {
  const auto n = static_cast<double>(t.count);
  const ExactSum::Pair sum = t.sum.pair();
  ExactSum centered = t.squares;
  centered.add_product(-2 * mean, sum.high);
  centered.add_product(-2 * mean, sum.low);
  const double square = mean * mean;
  centered.add_product(n, square);
  centered.add_product(n, std::fma(mean, mean, -square));
  return std::max(0.0, centered.value());
}

}  // namespace

bool Ranking::is_worse(const Ranked& a, const Ranked& b) const {
  if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(a.value);
  if (!std::isnan(a.value) && a.value != b.value)
    return low_is_worse_ ? a.value < b.value : a.value > b.value;
  return a.sample < b.sample;
}

bool Ranking::add(const Ranked& ranked) {
  const auto worse = [this](const Ranked& a, const Ranked& b) { return is_worse(a, b); };
  if (most_ == 0 || (list_.size() == most_ && !worse(ranked, list_.back()))) return false;
  list_.insert(std::upper_bound(list_.begin(), list_.end(), ranked, worse), ranked);
  if (list_.size() > most_) list_.pop_back();
  return true;
}

void Ranking::add(const Ranking& other) {
  for (const Ranked& r : other.list_) add(r);
}

void Tally::add(double x) {
  if (std::isnan(x)) {
    ++nan;
  } else if (std::isinf(x)) {
    ++(x < 0 ? negative_infinity : positive_infinity);
  } else {
    ++count;
    sum.add(x);
    if (std::abs(x) <= kLargestSquared) squares.add_product(x, x);
    least = std::min(least.value_or(x), x);
    greatest = std::max(greatest.value_or(x), x);
  }
}

void Tally::add(const Tally& other) {
  count += other.count;
  nan += other.nan;
  negative_infinity += other.negative_infinity;
  positive_infinity += other.positive_infinity;
  sum.add(other.sum);
  squares.add(other.squares);
  if (other.least) least = std::min(least.value_or(*other.least), *other.least);
  if (other.greatest) greatest = std::max(greatest.value_or(*other.greatest), *other.greatest);
}

Figure Tally::figure(Kind kind) const {
  if (count == 0) return {};
  const auto n = static_cast<double>(count);
  if (kind == Kind::kProportion) return proportion(sum.value(), n);
  const double mean = sum.value() / n;
  Figure f{.value = mean};
  const bool has_squares = std::max(std::abs(*least), std::abs(*greatest)) <= kLargestSquared;
  if (count > 1 && has_squares && std::isfinite(mean)) {
    f.deviation = std::sqrt(centered_squares(*this, mean) / (n - 1));
    const double half = kNormal95 * *f.deviation / std::sqrt(n);
    f.low = mean - half;
    f.high = mean + half;
  }
  if (kind != Kind::kPerplexity) return f;
  for (std::optional<double>* v : {&f.value, &f.low, &f.high})
    if (*v) *v = std::exp(**v);
  return f;
}

void TimeTally::add(double seconds) {
  ++count;
  sum.add(seconds);
  ++buckets[static_cast<uint32_t>(std::bit_cast<uint64_t>(seconds) >> kBucketShift)];
}

void TimeTally::add(const TimeTally& other) {
  count += other.count;
  sum.add(other.sum);
  for (const auto& [bucket, times] : other.buckets) buckets[bucket] += times;
}

std::optional<double> TimeTally::quantile(double share) const {
  const auto rank = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(share * static_cast<double>(count))));
  int64_t below = 0;
  for (const auto& [bucket, times] : buckets) {
    below += times;
    if (below < rank) continue;
    const uint64_t first = static_cast<uint64_t>(bucket) << kBucketShift;
    return std::bit_cast<double>(first + (uint64_t{1} << (kBucketShift - 1)));
  }
  return std::nullopt;
}

}  // namespace assay::eval
