// assay check: whether things are as they must be. Each subcommand has its file, cmd_check_<name>.cpp.
#include "cli/command.h"
#include "cli/options/logging.h"

namespace assay::cli {

extern const Command kCheckConformanceCommand;
extern const Command kCheckLintCommand;

namespace {

constexpr const Command* kSubcommands[] = {&kCheckLintCommand, &kCheckConformanceCommand};

}  // namespace

extern constinit const Command kCheckCommand;
constinit const Command kCheckCommand = {
    .name = "check",
    .summary = "Check that things are as they must be.",
    .description = "Checks that things are as they must be.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli
