// --metric-script: a script that measures the outputs of a sample.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "assay/tensor.h"
#include "script/reference.h"

namespace assay::script {

class PythonFunction;

/// A function of Python: `metric(outputs, golden, labels)` returns a number for one sample of one backend.
/// `outputs` and `golden` are dictionaries from names to arrays (`golden` is None for the golden backend
/// itself), `labels` a list of integers. Its attribute `better`, "higher" (the default) or "lower", says
/// which samples are the worst. Not thread-safe.
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
  /// Throws Error (kInvalidArgument) for an exception of the script, and for a result that is not a number.
  double measure(const TensorList& outputs, const TensorList* golden, std::span<const int64_t> labels);

 private:
  std::unique_ptr<PythonFunction> function_;
  bool low_is_worse_ = true;
};

}  // namespace assay::script
