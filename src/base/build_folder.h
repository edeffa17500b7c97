// What was made together with a program that is run from the folder where it was built.
#pragma once

#include <string>

namespace assay {

/// Empty texts where there is nothing.
struct BuildFolder {
  std::string python_environment;  ///< the environment that tools/setup.sh makes
  std::string extensions;          ///< a folder of extension modules
  std::string python_package;      ///< the folder in which `import assay` finds the Python package
};

/// Of the program that runs: read from the file `<program>.build` beside it, which the build writes and an
/// installation does not take along. Whoever can write there can replace the program as well.
const BuildFolder& build_folder();

/// The same of a program at `path`.
BuildFolder read_build_folder(const std::string& path);

}  // namespace assay
