// From a command line to a part of poly::RunSettings, by the table of poly/run_table.h.
#pragma once

#include <string>

#include "cli/args.h"
#include "poly/run_table.h"

namespace assay::cli {

/// Sets the members of a part whose words are those of their types (RunWords), as far as the command has
/// their options and they are given. Throws Error naming the option.
void read_run_part(const ParsedArgs& args, poly::RunPart part, poly::RunSettings& settings);

/// FILE:FUNCTION of an option for scripts.
std::string script_of(const ParsedArgs& args, const char* option, const std::string& default_function);

}  // namespace assay::cli
