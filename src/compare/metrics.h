// Comparisons by a single metric per output: distance, angle, signal-to-noise ratio.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "compare/comparison.h"

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

/// A metric that another module computes.
class OutputMeasure {
 public:
  virtual ~OutputMeasure() = default;
  /// Prepares it, so that missing parts are found before anything runs. Throws Error.
  virtual void open() = 0;
  /// The metric of two outputs of one shape, or a sentence without a full stop why there is none. Throws
  /// Error.
  virtual std::variant<double, std::string> measure(const Tensor& a, const Tensor& b) = 0;
};

/// Compares by one of these metrics.
struct MetricOptions {
  bool check_shapes = true;
  /// The maximum of a distance, the minimum of other metrics; default_threshold() if not given.
  PerOutput<Tolerance> threshold;
  std::shared_ptr<OutputMeasure> measure = {};  ///< for kLpips, which this module does not compute itself
};

/// 1e-5, 0.997, 30 dB, 20 dB, 0.1 for kL2, kCosineSimilarity, kPsnr, kSnr, kLpips.
double default_threshold(CompareFunction metric);

/// kL2, kCosineSimilarity, kPsnr, kSnr or kLpips of each output against its threshold. Booleans count as 0
/// and 1. NaN fails, and so does an output that cannot be measured. Differences of integers do not wrap
/// around.
class MetricComparison : public OutputwiseComparison {
 public:
  /// Throws Error (kInvalidArgument) for another function, and for kLpips without MetricOptions::measure.
  MetricComparison(CompareFunction metric, MetricOptions options);
  CompareFunction function() const override { return metric_; }
  void open() const override {
    if (options_.measure != nullptr) options_.measure->open();
  }
  const MetricOptions& options() const { return options_; }
  Threshold threshold_for(const std::string& output) const override;

 protected:
  void begin(const OutputSource& source0, const OutputSource& source1,
             CompareObserver& observer) const override;
  OutputResult compare_pair(const OutputPair& pair, PairCache& cache, const CompareOptions& options,
                            CompareObserver& observer) const override;

 private:
  std::variant<double, std::string> measure(const Tensor& a, const Tensor& b) const;

  CompareFunction metric_;
  MetricOptions options_;
};

}  // namespace assay
