#include "script/interpreter.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "assay/error.h"
#include "base/build_folder.h"
#include "base/dynamic_library.h"

namespace assay::script {
namespace {

constexpr const char* kVariable = "ASSAY_PYTHON";

bool is_program(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// An interpreter, or the folder of an environment.
std::string named(const std::string& name, std::string_view by) {
  if (is_program(name)) return name;
  const std::string inside = name + "/bin/python3";
  if (is_program(inside)) return inside;
  Error e(ErrorCode::kNotFound,
          fmt::format("{} names '{}', which is neither a Python interpreter nor the folder of a "
                      "virtual environment",
                      by, name));
  throw e.set_remedy(fmt::format("Name one, as in {}=/usr/bin/python3.", kVariable));
}

/// The path of the running program; empty if the system does not tell.
std::string this_program() {
  std::error_code failed;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::string() : path.string();
}

}  // namespace

PythonPackage python_package_of(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path program(path), package = program.parent_path().parent_path();
  std::error_code failed;
  if (program.parent_path().filename() != "bin" || package.filename() != "assay" ||
      !fs::is_regular_file(package / "__init__.py", failed))
    return {.folder = read_build_folder(path).python_package, .interpreter = {}};
  // PREFIX/lib/python3.N/site-packages/assay
  const fs::path folder = package.parent_path(), library = folder.parent_path();
  const fs::path programs = library.parent_path().parent_path() / "bin";
  PythonPackage found = {.folder = folder.string(), .interpreter = {}};
  for (const std::string& name : {library.filename().string(), std::string("python3")})
    if (const std::string python = (programs / name).string();
        name.starts_with("python3") && found.interpreter.empty() && is_program(python))
      found.interpreter = python;
  return found;
}

std::string find_interpreter(const std::string& wanted) {
  if (!wanted.empty()) return named(wanted, "the option");
  if (const char* variable = std::getenv(kVariable); variable != nullptr && *variable != '\0')
    return named(variable, kVariable);
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (environment != nullptr && *environment == '/') {
    const std::string inside = std::string(environment) + "/bin/python3";
    if (is_program(inside)) return inside;
  }
  if (const std::string own = python_package_of(this_program()).interpreter; !own.empty()) return own;
  if (const std::string& built = build_folder().python_environment;
      !built.empty() && is_program(built + "/bin/python3"))
    return built + "/bin/python3";
  for (const std::string& folder : absolute_folders("PATH"))
    if (const std::string path = folder + "/python3"; is_program(path)) return path;
  Error e(ErrorCode::kNotFound,
          "a Python script needs a Python interpreter, and there is neither ASSAY_PYTHON nor an active "
          "virtual environment "
          "nor a python3 on PATH");
  throw e.set_remedy("Install Python 3.8 or newer with NumPy, or name an interpreter in ASSAY_PYTHON.");
}

}  // namespace assay::script
