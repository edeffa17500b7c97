// --data-loader-script: inputs that a script makes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "assay/tensor.h"
#include "script/reference.h"

namespace assay::script {

/// What the function of a script gives, one iteration at a time; the script runs only as far as it is asked.
/// In Python a generator function, or one that returns an iterable, of dictionaries from input names to NumPy
/// arrays; an iterable or a class will do, too. A native script is a function of include/assay/script.h. Not
/// thread-safe.
class DataScript {
 public:
  static constexpr const char* kDefaultFunction = "load_data";

  /// Nothing of the script runs yet. `interpreter`: find_interpreter().
  explicit DataScript(Reference reference, std::string interpreter = {});
  ~DataScript();
  DataScript(DataScript&&) noexcept;
  DataScript& operator=(DataScript&&) noexcept;

  /// Does what needs no inputs: starts the interpreter, or compiles, and loads the script. Throws Error.
  void prepare();

  /// The inputs of the next iteration, in the script's order; nothing when there are no more. Throws Error
  /// (kInvalidArgument) that names script, function and line for what the script raises and for what is not a
  /// feed.
  std::optional<TensorList> next();
  /// The next iteration is the first again; the function is called anew.
  void restart();
  /// Where the last iteration was made, for errors about its tensors: `at line 12 of function 'load_data' in
  /// data.py`.
  const std::string& place() const;

 private:
  class Source;
  class InPython;
  class Native;
  std::unique_ptr<Source> source_;
};

}  // namespace assay::script
