// Finding and loading ONNX Runtime's shared library.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxrt_api.h"

namespace assay::ort {

/// A loaded library.
struct Library {
  const Api* api = nullptr;
  const ApiBase* base = nullptr;
  std::string path, version;
};

/// The places that are searched, in order: the given path; the environment variable ASSAY_ONNXRUNTIME (a
/// library, a folder with one, or a Python environment); what prefer_onnxruntime() named; next to the Python
/// package of this program; the system's library path; the active Python or conda environment; the
/// environment that `python3` on PATH belongs to; the user's and the system's Python packages; before these,
/// the environment that was set up with the build (base/build_folder.h). The current folder is never
/// searched, whatever PATH, LD_LIBRARY_PATH and their like say.
std::vector<std::string> candidates(const std::string& given);

/// The first candidate that loads and is new enough; loaded once per path. A given path or environment
/// variable that does not work is an error, not a reason to look further. Throws Error (kUnsupported) with
/// the candidates tried and how to get ONNX Runtime.
const Library& load(const std::string& given);

}  // namespace assay::ort
