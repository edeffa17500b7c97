// From a command line to poly::RunSettings. What other commands share with `run` is in cli/options.
#pragma once

#include "assay/run_settings.h"
#include "cli/args.h"
#include "cli/registries.h"
#include "poly/run_parts.h"

namespace assay::cli {

/// One part each, with the options whose words mean something of their own. They throw Error.
void read_log_settings(const ParsedArgs& args, poly::RunSettings& settings);
void read_session_settings(const ParsedArgs& args, poly::RunSettings& settings);

/// Reads all of `run`.
poly::RunSettings read_run_settings(const ParsedArgs& args, bool as_upstream, const Registries& registries,
                                    const poly::ModelEdits& edits);

}  // namespace assay::cli
