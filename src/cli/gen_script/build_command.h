// How a generated C++ program is built.
#pragma once

#include <string>

namespace assay::cli {

/// Comment lines with the command that makes a program of the file at `path` with the installed library.
std::string build_command(const std::string& path);

}  // namespace assay::cli
