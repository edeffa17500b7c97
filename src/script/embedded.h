// Files that are part of the program (embed.py).
#pragma once

#include <string_view>

namespace assay::script {

/// A zip archive of python/: an interpreter runs it as a program.
std::string_view python_archive();
/// include/assay/script.h, which native scripts include.
std::string_view script_header();

}  // namespace assay::script
