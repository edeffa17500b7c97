// --memory-limit: every command has it.
#pragma once

#include "cli/args.h"

namespace assay::cli {

void add_resource_options(ArgParser& parser);
/// Sets the budget of the process. Throws Error for an invalid number of bytes, and for one that is too
/// small.
void apply_resource_options(const ParsedArgs& args);

}  // namespace assay::cli
