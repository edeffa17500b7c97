// Companions of a program that is run from its build folder.
#pragma once

#include <string>

namespace assay {

/// Paths; empty where there is nothing.
struct BuildFolder {
  std::string python_environment;  ///< the environment that tools/setup.sh makes
  std::string extensions;          ///< a folder of extension modules
  std::string python_package;      ///< the folder in which `import assay` finds the Python package
};

/// Of the running program: read from the file `<program>.build` next to it, which the build writes and an
/// installation omits. Anyone who can write there can replace the program, too.
const BuildFolder& build_folder();

/// The same of a program at `path`.
BuildFolder read_build_folder(const std::string& path);

}  // namespace assay
