// Scripts for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "assay/error.h"
#include "base/temporary_folder.h"
#include "script/interpreter.h"
#include "script/reference.h"

namespace assay::script {

/// The interpreter that tests use: the one that ASSAY_PYTHON names, else that of the environment with ONNX
/// Runtime, else the usual one. Empty when it has no NumPy.
inline const std::string& test_interpreter() {
  static const std::string found = [] {
    std::string wanted;
    if (std::getenv("ASSAY_PYTHON") == nullptr) {
      const char* environment = std::getenv("ASSAY_ONNXRUNTIME");
      for (const std::string& folder : {std::string(environment != nullptr ? environment : ""),
                                        std::string(ASSAY_SOURCE_FOLDER "/.venv")})
        if (wanted.empty() && !folder.empty() && std::filesystem::exists(folder + "/bin/python3"))
          wanted = folder;
    }
    try {
      const std::string path = find_interpreter(wanted);
      const std::string test = "'" + path + "' -c 'import numpy' 2> /dev/null";
      return std::system(test.c_str()) == 0 ? path : std::string();
    } catch (const Error&) {
      return std::string();
    }
  }();
  return found;
}

#define ASSAY_NEEDS_PYTHON()      \
  if (test_interpreter().empty()) \
  GTEST_SKIP() << "skipped: no Python interpreter with NumPy; name one in ASSAY_PYTHON"

/// Temporary files, removed by the destructor.
class Scripts {
 public:
  /// Writes a file and refers to it.
  Reference add(const std::string& name, const std::string& text, const std::string& function) {
    std::ofstream(path(name)) << text;
    return parse_reference(path(name), function);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

/// A script, which imports NumPy as np if it mentions that: the import takes most of a test's time.
inline std::string with_numpy(const std::string& text) {
  return (text.find("np.") != std::string::npos ? "import numpy as np\n" : "\n") + text;
}

/// The message of an Error that `body` throws.
template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

inline void expect_contains(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

}  // namespace assay::script
