// -v, -q, --verbosity, --silent, --log-format, --log-file: every command has them.
#pragma once

#include "cli/args.h"

namespace assay::cli {

void add_logging_options(ArgParser& parser);
/// Configures the log; does nothing for a command without these options. Throws Error for an unknown level
/// and for a log file that cannot be written.
void apply_logging_options(const ParsedArgs& args);

}  // namespace assay::cli
