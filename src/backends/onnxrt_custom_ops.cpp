#include "backends/onnxrt_custom_ops.h"

#include <algorithm>
#include <mutex>

#include "assay/error.h"
#include "base/dynamic_library.h"

namespace assay::ort {
namespace {

std::mutex g_mutex;
std::vector<OpLibrary>& libraries() {
  static auto* const all = new std::vector<OpLibrary>;
  return *all;
}

OpLibrary load_library(const std::string& path) {
  DynamicLibrary file;
  std::string error;
  require(DynamicLibrary::load(path, file, error), ErrorCode::kUnsupported,
          "the library of operators {} cannot be loaded: {}", path, error);
  const auto register_ops = reinterpret_cast<RegisterOps>(file.symbol("RegisterCustomOps"));
  require(register_ops != nullptr, ErrorCode::kUnsupported,
          "{} is no library of operators for ONNX Runtime: it has no function RegisterCustomOps", path);
  return {path, register_ops};
}

}  // namespace

void load_custom_ops(const std::vector<std::string>& paths) {
  const std::lock_guard lock(g_mutex);
  for (const std::string& path : paths) {
    const auto known = [&](const OpLibrary& l) { return l.path == path; };
    if (std::none_of(libraries().begin(), libraries().end(), known))
      libraries().push_back(load_library(path));
  }
}

std::vector<OpLibrary> loaded_custom_ops() {
  const std::lock_guard lock(g_mutex);
  return libraries();
}

}  // namespace assay::ort
