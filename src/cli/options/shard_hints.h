// How a model is to be split over devices.
#pragma once

#include "cli/args.h"
#include "shard/suggest.h"

namespace assay::cli {

/// Shard Hints: of `template shard-hints` and `multi-device shard`.
void add_shard_hint_options(ArgParser& parser);
/// Throws log::LoggedError for numbers that mean nothing.
HintOptions read_shard_hint_options(const ParsedArgs& args);
/// Warns of those of these options that were given and that a hints file takes the place of.
void warn_about_unused_hint_options(const ParsedArgs& args);

}  // namespace assay::cli
