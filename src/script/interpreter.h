// Finds the Python interpreter for scripts, and the program's own Python package.
#pragma once

#include <string>

namespace assay::script {

/// The path of the user's interpreter: `wanted` if it is not empty, else $ASSAY_PYTHON (either an
/// interpreter, or the folder of a virtual environment), else $VIRTUAL_ENV/bin/python3, else that of the
/// environment into which the program was installed with its Python package, or that was set up with the
/// build (base/build_folder.h), else python3 on PATH. Throws Error (kNotFound) listing the candidates.
std::string find_interpreter(const std::string& wanted = {});

/// The Python package of a program.
struct PythonPackage {
  std::string folder;       ///< in which `import assay` finds it; empty: on the interpreter's own path
  std::string interpreter;  ///< of the environment that has it; empty: none is known
};

/// Of the program at `path`: FOLDER/assay/bin/assay, as pip installs it, or in its build folder.
PythonPackage python_package_of(const std::string& path);

}  // namespace assay::script
