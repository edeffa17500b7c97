#include "script/interpreter.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

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

}  // namespace

std::string find_interpreter(const std::string& wanted) {
  if (!wanted.empty()) return named(wanted, "the option");
  if (const char* variable = std::getenv(kVariable); variable != nullptr && *variable != '\0')
    return named(variable, kVariable);
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (environment != nullptr && *environment == '/') {
    const std::string inside = std::string(environment) + "/bin/python3";
    if (is_program(inside)) return inside;
  }
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
