// Normalization by mean and variance: shared by the normalization operators, in value and in rounding error.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "assay/tensor.h"

namespace assay {

class OpContext;

/// Whether a BatchNormalization takes its statistics from the batch.
bool is_batch_training(const OpContext& c);

/// Of a list of numbers: the mean, the population variance (two passes) and the mean of the magnitudes.
struct Moments {
  double mean = 0;
  double variance = 0;
  double mean_abs = 0;
};

/// Adds up the moments of numbers that come in pieces: all pieces to add_first, finish_mean, all again to
/// add_second, finish.
class MomentSums {
 public:
  void add_first(const double* x, int64_t n);
  void finish_mean();
  void add_second(const double* x, int64_t n);
  Moments finish();

 private:
  Moments m_;
  int64_t count_ = 0;
};
Moments moments(const double* x, int64_t n);

/// 1 / sqrt(variance + epsilon).
inline double inverse_deviation(const Moments& m, double epsilon) {
  return 1.0 / std::sqrt(m.variance + epsilon);
}

/// The magnitude m for which a computed (x - mean) * inverse errs by at most (n + 8) u m, when mean and
/// variance come from two passes over n numbers or from Welford's updates, with d = x - mean and r the root
/// mean square:
///   d errs by u (|x| + |mean|) + n u mean|x|, and the inverse, relatively, by n u / 2 + (n + 2) u r *
///   inverse.
/// A variance as E[x^2] - E[x]^2 is not covered: its error grows with (r * inverse)^2.
inline double normalized_magnitude(double x, const Moments& m, double inverse) {
  const double rms = std::sqrt(m.variance + m.mean * m.mean);
  return inverse *
         (std::fabs(x) + std::fabs(m.mean) + m.mean_abs + std::fabs(x - m.mean) * (1 + rms * inverse));
}
/// The drift of the partial sums of n numbers that are added one after the other: that of the mean keeps its
/// size where x - mean is small.
inline double normalized_drift(double x, const Moments& m, double inverse) {
  return inverse * (std::fabs(x - m.mean) + std::fabs(m.mean));
}
/// The same for the inverse itself.
inline double inverse_magnitude(const Moments& m, double inverse) {
  return inverse * (1 + std::sqrt(m.variance + m.mean * m.mean) * inverse);
}

/// The result of a normalization: its values, or for error bounds their magnitudes or drifts (Numerics).
enum class Normalized : uint8_t { kValues, kMagnitudes, kDrifts };

/// Rows of `count` contiguous elements, each normalized separately.
struct NormalizedRows {
  Tensor values;                      ///< (x - mean) * inverse, in the shape of x
  std::vector<double> mean, inverse;  ///< one per row
};
/// Mean and inverse are their magnitudes for kMagnitudes, else their values. Parallel over the rows.
NormalizedRows normalize_rows(const Tensor& x, int64_t count, double epsilon, Normalized what);

/// y = x * scale + shift with one scale and shift per channel: x has `channels` channels of `inner` elements,
/// over and over. For magnitudes |scale| and |shift|, for drifts |scale| only.
void scale_channels(Tensor& x, int64_t channels, int64_t inner, const double* scale, const double* shift,
                    Normalized what);

}  // namespace assay
