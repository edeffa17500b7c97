// Custom operators for ONNX Runtime, from shared libraries.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxrt_api.h"

namespace assay::ort {

/// The type of RegisterCustomOps, which a library of operators exports.
using RegisterOps = Status* (*)(SessionOptionsObject*, const ApiBase*);

struct OpLibrary {
  std::string path;
  RegisterOps register_ops = nullptr;
};

/// Loads each once; they stay until the process ends, as ONNX Runtime does. Throws Error (kUnsupported) for a
/// file that is no such library.
void load_custom_ops(const std::vector<std::string>& paths);

/// Registers all loaded ones with a session; every session gets them, including those of single nodes.
std::vector<OpLibrary> loaded_custom_ops();

}  // namespace assay::ort
