// Options for splitting a model over devices.
#pragma once

#include "cli/args.h"
#include "shard/suggest.h"

namespace assay::cli {

/// Shard Hints: of `template shard-hints` and `multi-device shard`.
void add_shard_hint_options(ArgParser& parser);
/// Throws log::LoggedError for invalid numbers.
HintOptions read_shard_hint_options(const ParsedArgs& args);
/// Warns of given options that a hints file overrides.
void warn_about_unused_hint_options(const ParsedArgs& args);

}  // namespace assay::cli
