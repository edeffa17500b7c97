// Options of trtexec that `assay bench` knows without having any use for them.
#pragma once

#include "cli/args.h"

namespace assay::cli {

/// Those without effect, which get a line of the log, and those that must not be passed over, which are
/// refused. Under the name `trtexec` there is --threads among the former.
void add_ignored_bench_options(ArgParser& parser, bool as_trtexec);
/// Says in one line for each that it has no effect, and why.
void warn_of_ignored_bench_options(const ParsedArgs& args);

}  // namespace assay::cli
