// --memory-limit: every command has it.
#pragma once

#include "cli/args.h"

namespace assay::cli {

void add_resource_options(ArgParser& parser);
/// Sets the budget of the process. Throws Error for what is not a number of bytes, and for one too small to
/// do anything with.
void apply_resource_options(const ParsedArgs& args);

}  // namespace assay::cli
