// --compare-func-script: a script that decides whether outputs agree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/iteration.h"
#include "script/reference.h"

namespace assay::script {

/// The thresholds of a comparison object for an output.
struct ScriptThreshold {
  std::vector<std::string> fields;  ///< names of the metrics that it checks
  /// Of Polygraphy's own kinds: the statistic with its tolerances, or the one number; otherwise it judges by
  /// its own method (CompareScript::passes).
  std::optional<std::string> statistic;
  std::optional<double> atol, rtol, value;
};

/// A function of two iterations that returns a verdict per output: in Python a dictionary from names to
/// values with a truth value, such as the results of Polygraphy's comparison functions. Not thread-safe.
class CompareScript {
 public:
  static constexpr const char* kDefaultFunction = "compare_outputs";

  /// Does not run the script yet. `interpreter`: find_interpreter().
  explicit CompareScript(Reference reference, std::string interpreter = {});
  ~CompareScript();
  CompareScript(CompareScript&&) noexcept;
  CompareScript& operator=(CompareScript&&) noexcept;

  /// Prepares without data: starts the interpreter, or compiles, and loads the script. Throws Error.
  void prepare();

  /// In the script's order. Throws Error (kInvalidArgument) that names script, function and line.
  std::vector<ScriptVerdict> compare(const Iteration& iteration0, const Iteration& iteration1);

  /// The thresholds of each output, from the object's method thresholds_for(). Throws Error
  /// (kInvalidArgument) when it has none, as a plain function, and (kUnsupported) for a native script.
  std::vector<ScriptThreshold> thresholds(const std::vector<std::string>& outputs);
  /// True when the threshold of one of these outputs is met.
  bool passes(const std::string& output, const std::vector<std::pair<std::string, double>>& metrics);

 private:
  class Function;
  class InPython;
  class Native;
  std::unique_ptr<Function> function_;
};

}  // namespace assay::script
