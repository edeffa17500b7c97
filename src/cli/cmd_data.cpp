// assay data: files of inputs and results. `to-input` makes one file of inputs out of several files.
#include "base/log.h"
#include "cli/command.h"
#include "cli/options/logging.h"
#include "run/merge_inputs.h"

namespace assay::cli::command_data {
namespace {

void add_to_input_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Files").options = {
      {.names = {"paths"},
       .help = "Files of inputs or results, as --save-inputs and --save-outputs write them. Of tensors that "
               "have one "
               "name the last is taken, so results should be those of one runner.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FILE"},
      {.names = {"-o", "--output"},
       .help = "The file to write, for --load-inputs.",
       .metavar = "FILE",
       .required = true},
  };
}

int run_to_input(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = args.text("-o").value();
  const InputData inputs = merge_inputs(args.list("paths").value());
  log::info("Saving input file containing {} iteration(s) to {}", inputs.size(), path);
  save_inputs(inputs, path);
  return 0;
}

constexpr Command kToInputCommand = {
    .name = "to-input",
    .summary = "Combine inputs and outputs of earlier runs into one file of inputs.",
    .description = "Combines files of inputs and of results into one file that --load-inputs takes.",
    .add_options = add_to_input_options,
    .run = run_to_input,
};
constexpr const Command* kSubcommands[] = {&kToInputCommand};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "data",
    .summary = "Work on saved inputs and results.",
    .description = "Works on saved inputs and results.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli::command_data
