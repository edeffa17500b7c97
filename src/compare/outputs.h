// What is compared: the outputs of runners, fetched one tensor at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/tensor.h"

namespace assay {

/// The outputs of one iteration of one runner.
class OutputSource {
 public:
  virtual ~OutputSource() = default;
  virtual const std::string& runner_name() const = 0;
  /// Unique names in the runner's order.
  virtual const std::vector<std::string>& names() const = 0;
  /// The output of names()[index]. Its memory is free again when the last copy of the tensor goes; a
  /// comparison keeps no more than one output of each runner.
  virtual Tensor load(size_t index) const = 0;
};

/// Outputs that are in memory anyway.
class OutputList : public OutputSource {
 public:
  OutputList(std::string runner_name, TensorList outputs);
  const std::string& runner_name() const override { return runner_name_; }
  const std::vector<std::string>& names() const override { return names_; }
  Tensor load(size_t index) const override { return outputs_[index].tensor; }

 private:
  std::string runner_name_;
  TensorList outputs_;
  std::vector<std::string> names_;
};

/// All iterations of one runner.
struct RunnerOutputs {
  std::string runner_name;
  std::vector<std::shared_ptr<const OutputSource>> iterations;
};

/// Two outputs that belong together, as the log refers to them.
struct OutputPair {
  std::string runner0, runner1;
  std::string name0, name1;
  Tensor output0, output1;
};

/// The error between two outputs, as far as it was computed.
struct OutputCompareResult {
  bool passed = false;
  double max_absdiff = 0, max_reldiff = 0;
  double mean_absdiff = 0, mean_reldiff = 0;
  double median_absdiff = 0, median_reldiff = 0;
  /// Only when the quantile is what is checked.
  std::optional<double> quantile_absdiff, quantile_reldiff;
  /// The smallest tolerances with which the checked statistic would pass, each without help of the other.
  double required_atol = 0, required_rtol = 0;
};

struct DistanceMetricsResult {
  bool passed = false;
  double l2_norm = 0;
  double cosine_similarity = 0;
};

struct QualityMetricsResult {
  bool passed = false;
  std::optional<double> psnr, snr;  ///< decibels; absent when not asked for
};

/// What became of one output.
struct OutputVerdict {
  std::string name;  ///< in the first runner
  bool passed = false;
  std::variant<std::monostate, OutputCompareResult, DistanceMetricsResult, QualityMetricsResult> details;
};

/// One comparison function: decides, pair by pair, whether outputs agree, and logs why.
class Comparison {
 public:
  virtual ~Comparison() = default;
  /// Called before the outputs of an iteration are compared.
  virtual void begin(const OutputSource& /*source0*/, const OutputSource& /*source1*/) const {}
  virtual OutputVerdict compare(const OutputPair& pair) const = 0;
};

}  // namespace assay
