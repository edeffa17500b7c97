// Options of trtexec that `assay bench` accepts or refuses, because they have no effect here.
#pragma once

#include "cli/args.h"

namespace assay::cli {

/// Ignored options, which are logged, and options that would change the result, which are refused. Under the
/// name `trtexec` --threads is among the former.
void add_ignored_bench_options(ArgParser& parser, bool as_trtexec);
/// Logs a line with the reason for each option without effect.
void warn_of_ignored_bench_options(const ParsedArgs& args);

}  // namespace assay::cli
