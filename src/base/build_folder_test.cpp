#include "base/build_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"

namespace assay::build_folder_test {
namespace {

TEST(BuildFolders, TheFileBesideTheProgramSaysWhatWasBuiltWithIt) {
  const TemporaryFolder temporary;
  const std::string program = (temporary.path() / "assay").string();
  EXPECT_EQ(read_build_folder(program).python_environment, "");
  std::ofstream(program + ".build")
      << "# made by the build\npython=/home/me/assay/.venv\nextensions=/build/ext = "
         "a\npackage=/build/python\nother=/x\n";
  const BuildFolder found = read_build_folder(program);
  EXPECT_EQ(found.python_environment, "/home/me/assay/.venv");
  EXPECT_EQ(found.extensions, "/build/ext = a");
  EXPECT_EQ(found.python_package, "/build/python");
  // A relative path would depend on the current folder.
  std::ofstream(program + ".build") << "python=.venv\n";
  EXPECT_EQ(read_build_folder(program).python_environment, "");
}

TEST(BuildFolders, TestProgramsHaveNone) { EXPECT_EQ(build_folder().python_environment, ""); }

}  // namespace
}  // namespace assay::build_folder_test
