// --postprocess-func-script: outputs that a script changes before they are compared.
#pragma once

#include <memory>
#include <string>

#include "script/iteration.h"
#include "script/reference.h"

namespace assay::script {

/// A function that takes an iteration's outputs and returns those to compare: in Python with one argument,
/// shaped as Polygraphy's IterationResult (a dictionary with runner_name and runtime). Not thread-safe.
class PostprocessScript {
 public:
  static constexpr const char* kDefaultFunction = "postprocess_outputs";

  /// Does not run the script yet. `interpreter`: find_interpreter().
  explicit PostprocessScript(Reference reference, std::string interpreter = {});
  ~PostprocessScript();
  PostprocessScript(PostprocessScript&&) noexcept;
  PostprocessScript& operator=(PostprocessScript&&) noexcept;

  /// Prepares without data: starts the interpreter, or compiles, and loads the script. Throws Error.
  void prepare();

  /// The new outputs, in the script's order. Throws Error (kInvalidArgument) that names script, function and
  /// line.
  TensorList process(const Iteration& iteration);

 private:
  class Function;
  class InPython;
  class Native;
  std::unique_ptr<Function> function_;
};

}  // namespace assay::script
