// What `run` reports besides its lines: tables in files, test results, conditions, and the next command.
#pragma once

#include <string>

#include "cli/args.h"
#include "console/run_summary.h"
#include "run/run_options.h"

namespace assay::cli {

/// --all, --csv, --json, --junit, --fail-if.
void add_run_report_options(ArgParser& parser);
/// A generated program writes none of them, and is no shard. Throws Error naming the option.
void refuse_run_reports(const ParsedArgs& args);
/// Throws Error for a condition that is none, before anything runs.
void check_conditions(const ParsedArgs& args);

/// Writes the files, and checks the results against the conditions, which decide in place of the tolerances.
/// Returns the outcome with them.
RunOutcome write_run_reports(const ParsedArgs& args, const RunOptions& options, const RunTables& tables,
                             const RunReport& report, const std::string& command);

/// Says what would explain a failed comparison.
void suggest_next(const ParsedArgs& args, const RunOptions& options, const RunReport& report,
                  const RunTables& tables);

}  // namespace assay::cli
