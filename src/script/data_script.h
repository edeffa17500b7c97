// --data-loader-script: inputs from a script.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "assay/tensor.h"
#include "script/reference.h"

namespace assay::script {

/// Results of a script's function, one iteration at a time; the script runs only on demand.
/// In Python a generator function, or one that returns an iterable, of dictionaries from input names to NumPy
/// arrays; an iterable or a class is accepted, too. A native script is a function of include/assay/script.h.
/// Not thread-safe.
class DataScript {
 public:
  static constexpr const char* kDefaultFunction = "load_data";

  /// Does not run the script yet. `interpreter`: find_interpreter().
  explicit DataScript(Reference reference, std::string interpreter = {});
  ~DataScript();
  DataScript(DataScript&&) noexcept;
  DataScript& operator=(DataScript&&) noexcept;

  /// Prepares without inputs: starts the interpreter, or compiles, and loads the script. Throws Error.
  void prepare();

  /// The inputs of the next iteration, in the script's order; nothing when there are no more. Throws Error
  /// (kInvalidArgument) that names script, function and line for exceptions of the script and for invalid
  /// feeds.
  std::optional<TensorList> next();
  /// Restarts with the first iteration; the function is called again.
  void restart();
  /// The origin of the last iteration, for errors about its tensors: `at line 12 of function 'load_data' in
  /// data.py`.
  const std::string& place() const;

 private:
  class Source;
  class InPython;
  class Native;
  std::unique_ptr<Source> source_;
};

}  // namespace assay::script
