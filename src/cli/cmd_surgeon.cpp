// assay surgeon: models changed and saved, one file per subcommand.
#include "cli/command.h"
#include "cli/options/logging.h"

namespace assay::cli {

extern constinit const Command kSurgeonConvertOpsetCommand;

namespace {

constexpr const Command* kSubcommands[] = {&kSurgeonConvertOpsetCommand};

}  // namespace

extern constinit const Command kSurgeonCommand;
constinit const Command kSurgeonCommand = {
    .name = "surgeon",
    .summary = "Change ONNX models.",
    .description = "Changes ONNX models and saves the result.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli
