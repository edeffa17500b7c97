// The lines with which comparisons and `inspect data` describe an array.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "assay/tensor.h"
#include "compare/histogram.h"
#include "compare/outputs.h"
#include "tensor/numbers.h"
#include "tensor/statistics.h"

namespace assay {

/// `mean=2.5, std-dev=1.118, ..., min=1 at (0,), ..., p99=3.97`. The quantiles are left out for bool. What
/// NumPy computes in float32 (means always, the rest for float32 numbers) is rounded to it, so that the
/// digits agree.
std::string statistics_text(const Statistics& statistics, const Numbers& numbers, bool is_bool = false);

/// A statistic of the errors with five digits, rounded as above.
std::string error_text(double statistic, DType kind);

/// `(dtype=float32, shape=(1, 3))`.
std::string type_text(const Tensor& tensor);

/// Every line of the text indented by four spaces.
std::string indent_block(const std::string& text);

/// A runner's name in a column of 35 characters.
std::string name_column(const std::string& runner_name);

/// An array whose statistics are to be logged.
struct ArrayReport {
  std::string label;  ///< `runner: output`; empty: the line has neither label nor `| Stats:`
  const Numbers& numbers;
  const Statistics& statistics;
  std::function<Tensor()> values;  ///< the array itself; only asked for when it is small
  bool is_bool = false;
};

/// Logs the line of statistics at kInfo, then, one level deeper, the values if there are at most 100, and a
/// histogram over `range` (by default the numbers' own); both at kInfo if `details`, else at kVerbose.
void log_array(const ArrayReport& report, bool details, std::optional<HistogramRange> range = {});

/// What every comparison function logs about its two outputs.
class PairReport {
 public:
  /// Takes the statistics; logs nothing.
  explicit PairReport(const OutputPair& pair);
  /// The outputs have the same type and all bits are equal.
  bool identical() const { return identical_; }
  const Statistics& statistics0() const { return statistics0_; }
  const Statistics& statistics1() const { return statistics1_; }
  const Numbers& numbers0() const { return numbers0_; }
  const Numbers& numbers1() const { return numbers1_; }
  /// Both arrays, with histograms over their common range.
  void log_arrays(bool details) const;

 private:
  const OutputPair& pair_;
  bool identical_;
  TensorNumbers numbers0_, numbers1_;
  Statistics statistics0_, statistics1_;
};

/// The whole arrays, at kSuperVerbose.
void log_whole_outputs(const OutputPair& pair);

}  // namespace assay
