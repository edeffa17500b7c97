// assay inspect: what models and saved data hold.
#include "cli/cmd_inspect.h"

#include "cli/options/logging.h"

namespace assay::cli {
namespace {

constexpr const Command* kSubcommands[] = {
    &kInspectModelCommand,   &kInspectDataCommand,        &kInspectSparsityCommand,
    &kInspectDiffCommand,    &kInspectCapabilityCommand,  &kInspectBuilderCommand,
    &kInspectTacticsCommand, &kInspectDiffTacticsCommand,
};

}  // namespace

extern constinit const Command kInspectCommand;
constinit const Command kInspectCommand = {
    .name = "inspect",
    .summary = "Show what models and saved data hold.",
    .description = "Shows what models and saved data hold, without running anything.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli
