// assay debug: searches for the cause of a failure.
#include "cli/cmd_debug.h"

#include "cli/options/logging.h"

namespace assay::cli::command_debug {
namespace {

constexpr const Command* kSubcommands[] = {
    &command_debug_build::def,    &command_debug_diverge::def,   &command_debug_nan::def,
    &command_debug_passes::def,   &command_debug_precision::def, &command_debug_range::def,
    &command_debug_reduce::def,   &command_debug_repeat::def,    &command_debug_tactics::def,
    &command_debug_versions::def,
};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "debug",
    .summary = "Search for the cause of a failure: the smallest model that fails, where NaN comes from.",
    .description =
        "Searches for the cause of a failure. Each iteration makes a candidate and runs a check on it: a "
        "command given after "
        "--check, whose exit code says whether it passed. See docs/guide/debugging.md.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli::command_debug
