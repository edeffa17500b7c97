#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/input_file.h"

namespace assay {
namespace {

/// The loader's default folders in various distributions.
std::vector<std::string> usual_folders() {
  utsname system = {};
  ::uname(&system);
  const std::string architecture = std::string(system.machine) + "-linux-gnu";
  return {"/usr/local/lib", "/lib/" + architecture, "/usr/lib/" + architecture,
          "/lib64",         "/usr/lib64",           "/lib",
          "/usr/lib"};
}

/// The system's header declares dlopen() as noexcept, so compilers would drop a handler around it; yet
/// exceptions of a library's global constructors pass through it.
void* (*const volatile load_library)(const char*, int) = ::dlopen;

bool open(const std::string& path, void*& handle, std::string& error) {
  try {
    handle = load_library(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const std::exception& e) {
    error = fmt::format("it threw an exception while it was loaded: {}", e.what());
    return false;
  } catch (...) {
    error = "it threw an exception while it was loaded";
    return false;
  }
  if (handle != nullptr) return true;
  const char* reason = ::dlerror();
  error = reason != nullptr ? reason : "unknown reason";
  return false;
}

/// The loader accepts `:` and `;` as separators.
constexpr const char* kSeparators = ":;";

bool only_absolute(std::string_view folders) {
  for (;;) {
    if (!folders.starts_with('/')) return false;
    const size_t end = folders.find_first_of(kSeparators);
    if (end == std::string_view::npos) return true;
    folders.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::string> absolute_folders(const char* variable) {
  const char* value = std::getenv(variable);
  std::vector<std::string> folders;
  for (std::string_view rest = value != nullptr ? value : ""; !rest.empty();) {
    const size_t end = std::min(rest.find_first_of(kSeparators), rest.size());
    if (rest.starts_with('/')) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

bool DynamicLibrary::load(const std::string& path, DynamicLibrary& out, std::string& error) {
  if (path.find('/') != std::string::npos) {
    struct stat st {};
    // The loader would block on a pipe.
    if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) {
      error = fmt::format("it is {}", kind_of_file(st.st_mode));
      return false;
    }
    return open(path, out.handle_, error);
  }
  // With an empty or relative entry in its path, the loader would search the current folder.
  const char* folders = std::getenv("LD_LIBRARY_PATH");
  if (folders == nullptr || *folders == '\0' || only_absolute(folders)) return open(path, out.handle_, error);
  std::vector<std::string> list = absolute_folders("LD_LIBRARY_PATH");
  const std::vector<std::string> usual = usual_folders();
  list.insert(list.end(), usual.begin(), usual.end());
  for (const std::string& folder : list) {
    struct stat st {};
    const std::string file = folder + "/" + path;
    if (::stat(file.c_str(), &st) == 0 && S_ISREG(st.st_mode) && open(file, out.handle_, error)) return true;
  }
  if (error.empty()) error = path + ": cannot open shared object file: No such file or directory";
  return false;
}

void* DynamicLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

}  // namespace assay
