// The dynamic range of a tensor, accumulated over any number of parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/int8_calibrator.h"

namespace assay::engine {

/// Number of magnitudes of signed 8-bit integers.
inline constexpr int64_t kInt8Quantized = 128;

/// The number of leading bins of a histogram of magnitudes to keep so that quantization to `levels` values
/// loses the least information: the Kullback-Leibler divergence of the histogram that is clipped there (with
/// larger ones in the last bin) from the one with all non-empty bins of a level alike is smallest.
/// For equal divergences, the largest number of bins. Between `levels` and counts.size(), the last bin of
/// which is not empty; counts.size() where that is not more than `levels`.
size_t least_divergence(std::span<const int64_t> counts, int64_t levels);

/// Statistics of a tensor's magnitudes. They take constant memory, and depend only on the numbers: not on
/// their order, nor on the division into parts.
class TensorRange {
 public:
  /// `counts`: whether a histogram is needed; else only the largest magnitude is known.
  explicit TensorRange(bool counts) : counts_(counts ? static_cast<size_t>(kBins) : 0) {}

  /// All that it knows, to be stored.
  struct State {
    bool has_counts = false;
    int exponent = 0;
    float largest = 0;
    int64_t zeros = 0, counted = 0, not_finite = 0;
    std::vector<int64_t> counts = {};  ///< up to the last that is not 0
  };
  State state() const;
  /// Throws Error (kInvalidArgument) for a state that no numbers lead to.
  explicit TensorRange(const State& state);

  void add(std::span<const float> numbers);
  /// The numbers of another one, exactly. Both count or neither does.
  void add(const TensorRange& other);

  int64_t count() const { return zeros_ + counted_ + not_finite_; }
  /// Infinities and NaNs.
  int64_t not_finite() const { return not_finite_; }
  /// The largest magnitude of the finite numbers.
  float largest() const { return largest_; }
  /// The largest magnitude to represent, at most largest(); equal to it if there are too few numbers to
  /// decide (for the entropy, 64 per bin on average). Zeros count only for quantiles: every scale represents
  /// them exactly. Needs a histogram, unless it is kMinMax.
  float limit(CalibrationAlgorithm algorithm, double quantile) const;
  /// The scale; 0 without a range: see CalibrationTable::scales.
  float scale(CalibrationAlgorithm algorithm, double quantile) const;

 private:
  static constexpr int64_t kBins = 4096;
  /// The upper end of the histogram is 2^exponent_, and at most twice the largest magnitude; it is never
  /// below this, so that smaller numbers share the first bin.
  static constexpr int kMinExponent = -100;

  void reach(float magnitude);
  void reach_exponent(int exponent);
  double bin_width() const;
  std::span<const int64_t> used_bins() const;
  double entropy_limit() const;
  double bounded_entropy_limit() const;
  double quantile_limit(double quantile) const;
  double least_error_limit() const;

  std::vector<int64_t> counts_;  // of magnitudes from i to i + 1 bin widths, zeros left out
  int exponent_ = kMinExponent;
  float largest_ = 0;
  int64_t zeros_ = 0, counted_ = 0, not_finite_ = 0;
};

}  // namespace assay::engine
