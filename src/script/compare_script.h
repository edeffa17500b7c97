// --compare-func-script: a script that decides whether outputs agree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "script/iteration.h"
#include "script/reference.h"

namespace assay::script {

/// A function of two iterations that returns a verdict per output: in Python a dictionary from names to
/// anything that is true or false, such as the results of Polygraphy's comparison functions. Not thread-safe.
class CompareScript {
 public:
  static constexpr const char* kDefaultFunction = "compare_outputs";

  /// Nothing of the script runs yet. `interpreter`: find_interpreter().
  explicit CompareScript(Reference reference, std::string interpreter = {});
  ~CompareScript();
  CompareScript(CompareScript&&) noexcept;
  CompareScript& operator=(CompareScript&&) noexcept;

  /// Does what needs no data: starts the interpreter, or compiles, and loads the script. Throws Error.
  void prepare();

  /// In the script's order. Throws Error (kInvalidArgument) that names script, function and line.
  std::vector<ScriptVerdict> compare(const Iteration& iteration0, const Iteration& iteration1);

 private:
  class Function;
  class InPython;
  class Native;
  std::unique_ptr<Function> function_;
};

}  // namespace assay::script
