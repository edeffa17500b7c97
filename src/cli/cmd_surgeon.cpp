// assay surgeon: changes models.
#include "cli/cmd_surgeon.h"

#include "cli/options/logging.h"

namespace assay::cli {
namespace {

constexpr const Command* kSubcommands[] = {
    &kSurgeonExtractCommand,
    &kSurgeonSanitizeCommand,
    &kSurgeonInsertCommand,
    &kSurgeonConvertOpsetCommand,
    &kSurgeonPruneCommand,
    &kSurgeonWeightStripCommand,
    &kSurgeonWeightReconstructCommand,
};

}  // namespace

extern constinit const Command kSurgeonCommand;
constinit const Command kSurgeonCommand = {
    .name = "surgeon",
    .summary = "Change a model: extract a part, fold constants, insert nodes, prune or strip weights.",
    .description = "Reads a model, changes it and saves it. What is not changed is saved as it was read.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli
