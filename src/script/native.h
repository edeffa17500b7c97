// Functions of native scripts: include/assay/script.h from the other side.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/script.h"
#include "script/iteration.h"
#include "script/reference.h"

namespace assay::script {

enum class NativeKind : int32_t {
  kData = ASSAY_SCRIPT_DATA,
  kPostprocess = ASSAY_SCRIPT_POSTPROCESS,
  kCompare = ASSAY_SCRIPT_COMPARE,
};

/// The result of a function.
struct NativeAnswer {
  bool has_ended = false;  ///< true when a data function has no such iteration
  TensorList tensors;
  std::vector<ScriptVerdict> verdicts;
};

/// A function of a .cpp or .so file, compiled and loaded at the first call; the library stays until the
/// process ends. A crash in it ends the process, with a sentence that names the script (base/crash_report.h).
class NativeFunction {
 public:
  NativeFunction(Reference reference, NativeKind kind) : reference_(std::move(reference)), kind_(kind) {}

  /// Compiles and loads it. Throws Error as the calls do.
  void prepare() { load(); }

  // One call per kind. They throw Error (kInvalidArgument) naming script and function: for errors it reports,
  // for invalid tensors; kUnsupported for a library that cannot be loaded or is for another
  // version.
  NativeAnswer data(int64_t iteration);
  NativeAnswer postprocess(const Iteration& iteration);
  NativeAnswer compare(const Iteration& iteration0, const Iteration& iteration1);

  /// `in function 'load_data' in data.cpp`.
  std::string place() const;

 private:
  void load();
  NativeAnswer call(const std::function<int32_t(assay_script_host*)>& body);

  Reference reference_;
  NativeKind kind_;
  const assay_script_function* function_ = nullptr;
};

}  // namespace assay::script
