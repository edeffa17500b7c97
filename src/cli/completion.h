// The command line for shells and for man, from the tables of options.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/args.h"

namespace assay::cli {

/// A script that completes commands, options, their choices, and files, for bash, zsh or fish.
std::string completion_script(const ArgParser& program, std::string_view shell);

/// Pages of the manual: file name (assay-run.1) and text (roff).
std::vector<std::pair<std::string, std::string>> manual_pages(const ArgParser& program,
                                                              const std::string& version);

}  // namespace assay::cli
