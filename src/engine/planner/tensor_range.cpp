#include "engine/planner/tensor_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/error.h"

namespace assay::engine {
namespace {

/// Numbers that are read twice, once for the largest, once for the bins, while they are in the cache.
constexpr size_t kPart = 8192;
constexpr float kLargestStep = 127;
/// Numbers in a bin, on average.
constexpr int64_t kMinPerBin = 64;

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

}  // namespace

size_t least_divergence(std::span<const int64_t> counts, int64_t levels) {
  const auto bins = static_cast<int64_t>(counts.size());
  if (bins <= levels) return counts.size();
  // Sums over the bins before each.
  std::vector<int64_t> sum(counts.size() + 1), filled(counts.size() + 1);
  std::vector<double> information(counts.size() + 1);
  for (size_t i = 0; i < counts.size(); ++i) {
    sum[i + 1] = sum[i] + counts[i];
    filled[i + 1] = filled[i] + (counts[i] > 0);
    information[i + 1] = information[i] + x_log_x(static_cast<double>(counts[i]));
  }
  const auto total = static_cast<double>(sum.back());
  double least = std::numeric_limits<double>::infinity();
  size_t best = counts.size();
  for (int64_t kept = levels; kept <= bins; ++kept) {
    const auto end = static_cast<size_t>(kept);
    const int64_t beyond = sum.back() - sum[end];
    const int64_t last = counts[end - 1];
    // What is clipped falls on a bin that the levels say is empty.
    if (last == 0 && beyond > 0) continue;
    // sum of P log P, with P in units of 1 / total; the logarithm of total cancels against that of Q's units.
    double divergence = information[end - 1] + x_log_x(static_cast<double>(last + beyond));
    for (int64_t level = 0; level < levels; ++level) {
      const auto a = static_cast<size_t>(level * kept / levels),
                 b = static_cast<size_t>((level + 1) * kept / levels);
      const int64_t inside = sum[b] - sum[a];
      if (inside == 0) continue;
      const double mass = static_cast<double>(inside) + (b == end ? static_cast<double>(beyond) : 0);
      divergence -= mass * std::log(static_cast<double>(inside) / static_cast<double>(filled[b] - filled[a]));
    }
    divergence = divergence / total + std::log(static_cast<double>(sum[end]) / total);
    // Divergences of 0 differ by rounding.
    if (divergence <= least + 1e-12) {
      least = std::min(least, divergence);
      best = end;
    }
  }
  return best;
}

TensorRange::State TensorRange::state() const {
  State s{.has_counts = !counts_.empty(),
          .exponent = exponent_,
          .largest = largest_,
          .zeros = zeros_,
          .counted = counted_,
          .not_finite = not_finite_};
  if (s.has_counts && counted_ > 0) {
    const std::span<const int64_t> used = used_bins();
    s.counts.assign(used.begin(), used.end());
  }
  return s;
}

TensorRange::TensorRange(const State& s) : TensorRange(s.has_counts) {
  int64_t sum = 0;
  bool is_possible = s.counts.size() <= counts_.size() && s.zeros >= 0 && s.counted >= 0 &&
                     s.not_finite >= 0 && s.exponent >= kMinExponent &&
                     s.exponent <= std::numeric_limits<float>::max_exponent && s.largest >= 0 &&
                     (!s.has_counts || static_cast<double>(s.largest) <= std::ldexp(1.0, s.exponent)) &&
                     (s.largest > 0) == (s.counted > 0);
  for (size_t i = 0; is_possible && i < s.counts.size(); ++i) {
    is_possible = s.counts[i] >= 0 && s.counts[i] <= s.counted - sum;
    sum += s.counts[i];
    counts_[i] = s.counts[i];
  }
  require(is_possible && (!s.has_counts || sum == s.counted), ErrorCode::kInvalidArgument,
          "its counts of magnitudes contradict each other");
  exponent_ = s.exponent;
  largest_ = s.largest;
  zeros_ = s.zeros;
  counted_ = s.counted;
  not_finite_ = s.not_finite;
}

void TensorRange::add(const TensorRange& other) {
  require(counts_.empty() == other.counts_.empty(), ErrorCode::kInvalidArgument,
          "one range has a histogram, and the other has none");
  zeros_ += other.zeros_;
  counted_ += other.counted_;
  not_finite_ += other.not_finite_;
  largest_ = std::max(largest_, other.largest_);
  if (counts_.empty() || other.counted_ == 0) return;
  reach_exponent(other.exponent_);
  const int shift = std::min(exponent_ - other.exponent_, 62);
  for (size_t i = 0; i < other.counts_.size(); ++i) counts_[i >> shift] += other.counts_[i];
}

void TensorRange::add(std::span<const float> numbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (size_t at = 0; at < numbers.size(); at += kPart) {
    const std::span<const float> part = numbers.subspan(at, std::min(kPart, numbers.size() - at));
    float largest = 0;
    int64_t zeros = 0, finite = 0;
    for (const float x : part) {
      const float magnitude = std::fabs(x);
      const bool is_finite = magnitude < kInfinity;
      largest = std::max(largest, is_finite ? magnitude : 0.0F);
      finite += is_finite;
      zeros += magnitude == 0;
    }
    zeros_ += zeros;
    counted_ += finite - zeros;
    not_finite_ += static_cast<int64_t>(part.size()) - finite;
    largest_ = std::max(largest_, largest);
    if (counts_.empty() || finite == zeros) continue;
    reach(largest);
    const auto per_unit = static_cast<float>(1 / bin_width());
    for (const float x : part) {
      const float magnitude = std::fabs(x);
      // A power of two: the product is exact.
      if (magnitude > 0 && magnitude < kInfinity) ++counts_[static_cast<size_t>(magnitude * per_unit)];
    }
  }
}

/// Makes the histogram reach beyond a magnitude. Its ends are powers of two, so that bins are merged whole.
void TensorRange::reach(float magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  reach_exponent(exponent);
}

void TensorRange::reach_exponent(int exponent) {
  if (exponent <= exponent_) return;
  const int doublings = exponent - exponent_;
  exponent_ = exponent;
  const int shift = std::min(doublings, 62);
  for (int64_t i = 0; i < kBins; ++i) {
    const int64_t count = std::exchange(counts_[static_cast<size_t>(i)], 0);
    counts_[static_cast<size_t>(i >> shift)] += count;
  }
}

double TensorRange::bin_width() const { return std::ldexp(1.0, exponent_) / kBins; }

std::span<const int64_t> TensorRange::used_bins() const {
  const auto last = std::find_if(counts_.rbegin(), counts_.rend(), [](int64_t n) { return n > 0; });
  return {counts_.data(), static_cast<size_t>(counts_.rend() - last)};
}

/// Chance makes neighbouring bins of few numbers differ, which would look like information that levels lose.
double TensorRange::entropy_limit() const {
  const std::span<const int64_t> fine = used_bins();
  int shift = 0;
  while (shift < 12 && counted_ < kMinPerBin * static_cast<int64_t>(((fine.size() - 1) >> shift) + 1))
    ++shift;
  std::vector<int64_t> merged(((fine.size() - 1) >> shift) + 1);
  for (size_t i = 0; i < fine.size(); ++i) merged[i >> shift] += fine[i];
  return std::ldexp(static_cast<double>(least_divergence(merged, kInt8Quantized)), shift) * bin_width();
}

double TensorRange::quantile_limit(double quantile) const {
  const auto finite = static_cast<double>(zeros_ + counted_);
  double below = static_cast<double>(zeros_);
  if (below >= quantile * finite) return 0;
  size_t bin = 0;
  for (; bin < counts_.size(); ++bin) {
    below += static_cast<double>(counts_[bin]);
    if (below >= quantile * finite) break;
  }
  return static_cast<double>(bin + 1) * bin_width();
}

/// Of limits that are close enough to each other: between neighbours the error hardly differs.
double TensorRange::least_error_limit() const {
  constexpr int kPerOctave = 16, kOctaves = 8;
  const std::span<const int64_t> bins = used_bins();
  const double width = bin_width();
  double best = largest_, least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= kPerOctave * kOctaves; ++i) {
    const double limit = largest_ * std::exp2(-static_cast<double>(i) / kPerOctave),
                 step = limit / kLargestStep;
    double sum = 0;
    for (size_t bin = 0; bin < bins.size() && sum < least; ++bin) {
      if (bins[bin] == 0) continue;
      const double magnitude = (static_cast<double>(bin) + 0.5) * width;
      // Within a bin wider than a step all remainders occur.
      const double beyond = magnitude - limit,
                   rounding = width < step ? magnitude - step * std::nearbyint(magnitude / step)
                                           : step / std::sqrt(12.0),
                   error = beyond > 0 ? beyond : rounding;
      sum += static_cast<double>(bins[bin]) * error * error;
    }
    if (sum < least) {
      least = sum;
      best = limit;
    }
  }
  return best;
}

/// The divergence looks at how many numbers are clipped, not at how far: a few far ones cost it little. Below
/// the least mean square every further number that is clipped costs more than finer levels gain.
double TensorRange::bounded_entropy_limit() const { return std::max(entropy_limit(), least_error_limit()); }

float TensorRange::limit(CalibrationAlgorithm algorithm, double quantile) const {
  if (algorithm == CalibrationAlgorithm::kMinMax || counted_ == 0) return largest_;
  require(!counts_.empty(), ErrorCode::kInternal, "a range without a histogram has no quantiles");
  const double limit = algorithm == CalibrationAlgorithm::kLegacy             ? quantile_limit(quantile)
                       : algorithm == CalibrationAlgorithm::kMeanSquaredError ? least_error_limit()
                                                                              : bounded_entropy_limit();
  return static_cast<float>(std::min<double>(limit, largest_));
}

float TensorRange::scale(CalibrationAlgorithm algorithm, double quantile) const {
  if (not_finite_ > 0) return 0;
  const float step = limit(algorithm, quantile) / kLargestStep;
  return step >= std::numeric_limits<float>::min() ? step : 0;
}

}  // namespace assay::engine
