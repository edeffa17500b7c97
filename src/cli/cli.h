// The entry point of the program: maps a command line to an exit status.
#pragma once

#include <span>
#include <string>

namespace assay::cli {

/// Reads the words (the first is the program as it was invoked), runs the command they name, and reports
/// every failure. Returns 0 for success, 1 for a failure of any kind, 2 for a violation of the option syntax.
/// Never throws.
int run_command_line(std::span<const std::string> words);

}  // namespace assay::cli
