// assay check: checks models and results. Each subcommand has its file, cmd_check_<name>.cpp.
#include "cli/command.h"
#include "cli/options/logging.h"

namespace assay::cli {
ASSAY_DECLARE_COMMAND(check_accuracy)
ASSAY_DECLARE_COMMAND(check_conformance)
ASSAY_DECLARE_COMMAND(check_lint)
}  // namespace assay::cli

namespace assay::cli::command_check {

namespace {

constexpr const Command* kSubcommands[] = {&command_check_lint::def, &command_check_accuracy::def,
                                           &command_check_conformance::def};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "check",
    .summary = "Check that things are as they must be.",
    .description = "Checks that things are as they must be.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli::command_check
