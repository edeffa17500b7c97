// Operators of one's own for ONNX Runtime, from shared libraries.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxrt_api.h"

namespace assay::ort {

/// What a library of operators exports as RegisterCustomOps, as ONNX Runtime's own languages call it.
using RegisterOps = Status* (*)(SessionOptionsObject*, const ApiBase*);

struct OpLibrary {
  std::string path;
  RegisterOps register_ops = nullptr;
};

/// Loads each once; they stay until the process ends, as ONNX Runtime does. Throws Error (kUnsupported) for a
/// file that is no such library.
void load_custom_ops(const std::vector<std::string>& paths);

/// All that were loaded: every session gets them, those of single nodes among them.
std::vector<OpLibrary> loaded_custom_ops();

}  // namespace assay::ort
