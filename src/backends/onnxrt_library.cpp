#include "backends/onnxrt_library.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "assay/error.h"
#include "assay/onnxruntime.h"
#include "base/build_folder.h"
#include "base/dynamic_library.h"
#include "base/wording.h"

namespace assay::ort {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "ASSAY_ONNXRUNTIME";

/// See prefer_onnxruntime().
std::string& preferred_place() {
  static auto* const place = new std::string;
  return *place;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<fs::path> sorted_children(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> list;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().filename().string().starts_with(prefix)) list.push_back(it->path());
  std::sort(list.rbegin(), list.rend());  // newest version first
  return list;
}

/// libonnxruntime.so, or with a version, directly in a folder.
void add_libraries_in(const fs::path& folder, std::vector<std::string>& out) {
  for (const fs::path& p : sorted_children(folder, "libonnxruntime.so")) out.push_back(p.string());
}

/// The wheels in an environment's lib/python3.X/site-packages (Debian: dist-packages).
void add_python_environment(const fs::path& prefix, std::vector<std::string>& out) {
  for (const fs::path& python : sorted_children(prefix / "lib", "python3"))
    for (const char* packages : {"site-packages", "dist-packages"})
      add_libraries_in(python / packages / "onnxruntime" / "capi", out);
}

void add_path_python(std::vector<std::string>& out) {
  for (const std::string& folder : absolute_folders("PATH")) {
    const fs::path python = fs::path(folder) / "python3";
    std::error_code ec;
    if (!fs::exists(python, ec)) continue;
    add_python_environment(python.parent_path().parent_path(), out);
    const fs::path real = fs::canonical(python, ec);
    if (!ec) add_python_environment(real.parent_path().parent_path(), out);
    return;
  }
}

/// Next to the Python package of this program, site-packages/assay/bin/assay.
void add_beside_package(std::vector<std::string>& out) {
  std::error_code ec;
  const fs::path package = fs::read_symlink("/proc/self/exe", ec).parent_path().parent_path();
  const fs::path packages = package.parent_path();
  if (!ec && package.filename() == "assay" &&
      (packages.filename() == "site-packages" || packages.filename() == "dist-packages"))
    add_libraries_in(packages / "onnxruntime" / "capi", out);
}

/// The candidates at a place that a user names: a library, a folder that holds one, or a Python environment.
std::vector<std::string> expand(const std::string& named) {
  std::vector<std::string> out;
  std::error_code ec;
  if (!fs::is_directory(named, ec)) return {named};
  add_libraries_in(named, out);
  add_libraries_in(fs::path(named) / "lib", out);
  add_python_environment(named, out);
  return out;
}

bool try_load(const std::string& path, Library& library, std::string& error) {
  DynamicLibrary file;
  if (!DynamicLibrary::load(path, file, error)) return false;
  const auto get_base = reinterpret_cast<const ApiBase* (*)()>(file.symbol("OrtGetApiBase"));
  if (get_base == nullptr) {
    error = "it has no symbol OrtGetApiBase";
    return false;
  }
  const ApiBase* base = get_base();
  library.base = base;
  library.api = base->get_api(kApiVersion);
  library.version = base->version();
  library.path = file.path().empty() ? path : file.path();
  if (library.api != nullptr) return true;
  error = fmt::format("its version {} is older than 1.{}", library.version, kApiVersion);
  return false;
}

Library find_library(const std::string& given) {
  const std::string named = !given.empty() ? given : environment(kVariable);
  const std::vector<std::string> list = candidates(given);
  std::string tried;
  for (const std::string& path : list) {
    Library library;
    std::string error;
    if (try_load(path, library, error)) return library;
    // Not finding a bare name is not worth reporting.
    std::error_code ec;
    if (!named.empty() || (path.find('/') != std::string::npos && fs::exists(path, ec)))
      tried += fmt::format(" {}: {};", path, error);
  }
  if (!tried.empty()) tried.back() = '.';
  Error e(ErrorCode::kUnsupported,
          named.empty() ? fmt::format("ONNX Runtime was not found{}{}", tried.empty() ? "" : "; tried", tried)
                        : fmt::format("there is no usable ONNX Runtime at {}{}{}", named,
                                      tried.empty() ? "" : ":", tried));
  set_remedy(e, Say::kOnnxrtLibrary, {kVariable});
  throw e;
}

}  // namespace

std::vector<std::string> candidates(const std::string& given) {
  if (!given.empty()) return expand(given);
  if (const std::string named = environment(kVariable); !named.empty()) return expand(named);
  std::vector<std::string> out;
  if (const std::string& preferred = preferred_place(); !preferred.empty()) out = expand(preferred);
  add_beside_package(out);
  out.insert(out.end(), {"libonnxruntime.so.1", "libonnxruntime.so"});
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = environment(variable);
    if (!prefix.starts_with('/')) continue;
    add_libraries_in(fs::path(prefix) / "lib", out);
    add_python_environment(prefix, out);
  }
  add_path_python(out);
  if (const std::string& built = build_folder().python_environment; !built.empty())
    add_python_environment(built, out);
  if (const std::string home = environment("HOME"); home.starts_with('/'))
    add_python_environment(fs::path(home) / ".local", out);
  add_libraries_in("/usr/lib/python3/dist-packages/onnxruntime/capi", out);
  add_python_environment("/usr/local", out);
  return out;
}

const Library& load(const std::string& given) {
  static auto* const loaded = new std::map<std::string, Library>;
  const auto it = loaded->find(given);
  if (it != loaded->end()) return it->second;
  return loaded->emplace(given, find_library(given)).first->second;
}

}  // namespace assay::ort

namespace assay {

void prefer_onnxruntime(std::string_view place) { ort::preferred_place() = place; }

}  // namespace assay
