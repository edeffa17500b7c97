// assay inspect: shows the content of models and saved data.
#include "cli/cmd_inspect.h"

#include "cli/options/logging.h"

namespace assay::cli::command_inspect {
namespace {

constexpr const Command* kSubcommands[] = {
    &command_inspect_model::def,   &command_inspect_data::def,         &command_inspect_sparsity::def,
    &command_inspect_diff::def,    &command_inspect_capability::def,   &command_inspect_builder::def,
    &command_inspect_tactics::def, &command_inspect_diff_tactics::def, &command_inspect_extensions::def,
};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "inspect",
    .summary = "Show what models and saved data hold.",
    .description = "Shows what models and saved data hold, without running anything.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli::command_inspect
