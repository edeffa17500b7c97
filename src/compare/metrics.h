// Comparisons by a single number for a whole output: distance, angle, signal to noise.
#pragma once

#include <optional>

#include "compare/outputs.h"
#include "compare/tolerance.h"

namespace assay {

/// sqrt(sum (a - b)^2). Throws Error (kInvalidArgument) unless both are numbers of the same shape.
double l2_distance(const Tensor& a, const Tensor& b);
/// The cosine of the angle between the tensors as vectors, in [-1, 1]; 1 when both are zero, 0 when one is.
/// Same errors.
double cosine_similarity(const Tensor& a, const Tensor& b);
/// Peak signal-to-noise ratio in decibels; the peak is the greatest element of a, or 1 if that is not
/// positive. Infinite when both are equal. Same errors.
double peak_signal_to_noise(const Tensor& a, const Tensor& b);
/// Signal-to-noise ratio in decibels, of the signal a with the noise a - b. Same errors.
double signal_to_noise(const Tensor& a, const Tensor& b);

struct DistanceOptions {
  bool check_shapes = true;
  PerOutput<double> l2_tolerance;                 ///< default 1e-5
  PerOutput<double> cosine_similarity_threshold;  ///< default 0.997
};

/// Both the L2 distance and the cosine similarity must be good enough.
class DistanceComparison : public Comparison {
 public:
  explicit DistanceComparison(DistanceOptions options) : options_(std::move(options)) {}
  void begin(const OutputSource& source0, const OutputSource& source1) const override;
  OutputVerdict compare(const OutputPair& pair) const override;

 private:
  DistanceOptions options_;
};

struct QualityOptions {
  bool check_shapes = true;
  /// In decibels. Absent: that ratio is not looked at.
  std::optional<PerOutput<double>> psnr_tolerance = PerOutput<double>(30.0);
  std::optional<PerOutput<double>> snr_tolerance = PerOutput<double>(20.0);
};

/// The peak signal-to-noise ratio and the signal-to-noise ratio must be high enough.
class QualityComparison : public Comparison {
 public:
  explicit QualityComparison(QualityOptions options) : options_(std::move(options)) {}
  void begin(const OutputSource& source0, const OutputSource& source1) const override;
  OutputVerdict compare(const OutputPair& pair) const override;

 private:
  QualityOptions options_;
};

}  // namespace assay
