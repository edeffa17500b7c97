// The build command of a generated C++ program.
#pragma once

#include <string>

namespace assay::cli {

/// Comment lines with the command that builds the file at `path` with the installed library.
std::string build_command(const std::string& path);

}  // namespace assay::cli
