// assay surgeon: changes models.
#include "cli/cmd_surgeon.h"

#include "cli/options/logging.h"

namespace assay::cli::command_surgeon {
namespace {

constexpr const Command* kSubcommands[] = {
    &command_surgeon_extract::def,
    &command_surgeon_sanitize::def,
    &command_surgeon_insert::def,
    &command_surgeon_convert_opset::def,
    &command_surgeon_prune::def,
    &command_surgeon_weight_strip::def,
    &command_surgeon_weight_reconstruct::def,
};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "surgeon",
    .summary = "Change a model: extract a part, fold constants, insert nodes, prune or strip weights.",
    .description = "Reads a model, changes it and saves it. What is not changed is saved as it was read.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli::command_surgeon
