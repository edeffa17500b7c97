// Which Python runs scripts.
#pragma once

#include <string>

namespace assay::script {

/// The path of the user's interpreter: `wanted` if it is not empty, else $ASSAY_PYTHON (either an
/// interpreter, or the folder of a virtual environment), else $VIRTUAL_ENV/bin/python3, else that of the
/// environment that was set up with the build (base/build_folder.h), else python3 on PATH.
/// Throws Error (kNotFound) that names what was searched.
std::string find_interpreter(const std::string& wanted = {});

}  // namespace assay::script
