// --metric-script: a script that measures the outputs of a sample.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/tensor.h"
#include "script/reference.h"

namespace assay::script {

class PythonFunction;

/// A function of Python: `metric(outputs, golden, labels)` returns a number for one sample of one backend.
/// `outputs` and `golden` are dictionaries from names to arrays (`golden` is None for the golden backend
/// itself), `labels` a list of integers. Its attribute `better`, "higher" (the default) or "lower", says
/// which samples are the worst. With an attribute `over_set`, a function of the arrays of all samples, it
/// returns an array of numbers for a sample, and the metric is the number that over_set() makes of all. Not
/// thread-safe.
class MetricScript {
 public:
  static constexpr const char* kDefaultFunction = "metric";

  /// Does not run the script yet. `interpreter`: find_interpreter(). Throws Error (kUnsupported) for a script
  /// that is not Python.
  explicit MetricScript(Reference reference, std::string interpreter = {});
  ~MetricScript();
  MetricScript(const MetricScript&) = delete;
  MetricScript& operator=(const MetricScript&) = delete;

  /// Starts the interpreter and loads the script. Throws Error (kInvalidArgument) naming script, function and
  /// line.
  void prepare();
  /// Of the function.
  const std::string& name() const;
  /// Once prepared.
  bool low_is_worse() const { return low_is_worse_; }
  bool is_over_set() const { return is_over_set_; }
  /// Throws Error (kInvalidArgument) for an exception of the script, and for a result that is not a number.
  double measure(const TensorList& outputs, const TensorList* golden, std::span<const int64_t> labels);
  /// The numbers of one sample, where it is over the set. Throws Error as measure().
  std::vector<double> record(const TensorList& outputs, const TensorList* golden,
                             std::span<const int64_t> labels);
  /// The metric, from the numbers of all samples in the order of the set. Throws Error as measure().
  double whole(const std::vector<std::vector<double>>& records);

 private:
  std::unique_ptr<PythonFunction> function_;
  bool low_is_worse_ = true, is_over_set_ = false;
};

}  // namespace assay::script
