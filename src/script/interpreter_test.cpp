#include "script/interpreter.h"

#include <optional>

#include "script/script_test_util.h"

namespace assay::script::interpreter_test {
namespace {

/// Restores an environment variable.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value != nullptr)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string program(const Scripts& scripts, const std::string& folder) {
  const std::string path = scripts.path(folder + "/bin/python3");
  std::filesystem::create_directories(scripts.path(folder + "/bin"));
  std::ofstream(path) << "#!/bin/sh\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(ScriptInterpreter, PlacesInOrder) {
  Scripts scripts;
  const std::string a = program(scripts, "a"), b = program(scripts, "b"), c = program(scripts, "c");
  const Variable path("PATH", scripts.path("c/bin").c_str());
  {
    const Variable python("ASSAY_PYTHON", a.c_str());
    const Variable environment("VIRTUAL_ENV", scripts.path("b").c_str());
    EXPECT_EQ(find_interpreter(), a);
    EXPECT_EQ(find_interpreter(c), c);
  }
  const Variable python("ASSAY_PYTHON", nullptr);
  {
    const Variable environment("VIRTUAL_ENV", scripts.path("b").c_str());
    EXPECT_EQ(find_interpreter(), b);
  }
  const Variable environment("VIRTUAL_ENV", nullptr);
  EXPECT_EQ(find_interpreter(), c);
}

TEST(ScriptInterpreter, AFolderStandsForTheEnvironmentInIt) {
  Scripts scripts;
  const std::string a = program(scripts, "a");
  const Variable python("ASSAY_PYTHON", scripts.path("a").c_str());
  EXPECT_EQ(find_interpreter(), a);
}

TEST(ScriptInterpreter, TheProgramOfAPackageKnowsItsEnvironment) {
  Scripts scripts;
  const std::string python = program(scripts, "env"),
                    folder = scripts.path("env/lib/python3.11/site-packages");
  std::filesystem::create_directories(folder + "/assay/bin");
  const std::string own = folder + "/assay/bin/assay";
  EXPECT_EQ(python_package_of(own).folder, "") << "there is no package";
  std::ofstream(folder + "/assay/__init__.py") << "\n";
  EXPECT_EQ(python_package_of(own).folder, folder);
  EXPECT_EQ(python_package_of(own).interpreter, python);
  std::filesystem::copy(python, scripts.path("env/bin/python3.11"));
  EXPECT_EQ(python_package_of(own).interpreter, scripts.path("env/bin/python3.11"))
      << "the version that it is for";
  // In a build folder.
  const std::string built = scripts.path("assay");
  std::ofstream(built + ".build") << "package=/build/python\n";
  EXPECT_EQ(python_package_of(built).folder, "/build/python");
  EXPECT_EQ(python_package_of(built).interpreter, "");
}

TEST(ScriptInterpreter, Errors) {
  const Variable environment("VIRTUAL_ENV", nullptr);
  {
    const Variable python("ASSAY_PYTHON", "/nowhere/python3");
    expect_contains(error_of([] { find_interpreter(); }), {"ASSAY_PYTHON names '/nowhere/python3'"});
  }
  const Variable python("ASSAY_PYTHON", nullptr);
  // Files in the current folder cannot be trusted.
  const Variable path("PATH", ".:/nowhere");
  expect_contains(error_of([] { find_interpreter(); }), {"needs a Python interpreter", "ASSAY_PYTHON"});
}

}  // namespace
}  // namespace assay::script::interpreter_test
