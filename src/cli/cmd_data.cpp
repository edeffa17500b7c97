// assay data: files of inputs and results. `merge` combines iterations, `concat` concatenates them.
#include "base/log.h"
#include "cli/command.h"
#include "cli/options/logging.h"
#include "run/concat_iterations.h"
#include "run/merge_inputs.h"

namespace assay::cli::command_data {
namespace {

void add_file_options(ArgParser& parser, const std::string& paths, const std::string& output) {
  add_logging_options(parser);
  parser.add_group("Files").options = {
      {.names = {"paths"}, .help = paths, .arity = Arity::kAtLeastOne, .metavar = "PATH"},
      {.names = {"-o", "--output"}, .help = output, .metavar = "FILE", .required = true},
  };
}

void add_merge_options(ArgParser& parser) {
  add_file_options(
      parser,
      "Files of inputs or results, as --save-inputs and --save-outputs write them, or folders with a file "
      "per "
      "iteration. Of tensors that have one name the last is taken, so results should be those of one runner.",
      "The file to write, for --load-inputs.");
}

int run_merge(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = args.text("-o").value();
  const InputData inputs = merge_inputs(args.list("paths").value());
  log::info("Saving input file containing {} iteration(s) to {}", inputs.size(), path);
  save_inputs(inputs, path);
  return 0;
}

int run_to_input(CommandContext& context) {
  log::warning("`data to-input` is called `data merge` in newer releases; it does the same.");
  return run_merge(context);
}

void add_concat_options(ArgParser& parser) {
  add_file_options(
      parser, "Files of inputs, or files of results, or folders with a file per iteration, all of one kind.",
      "The file to write, for --load-inputs or --load-outputs.");
}

int run_concat(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = args.text("-o").value();
  const ResultsOrInputs all = concat_iterations(args.list("paths").value());
  if (const auto* inputs = std::get_if<InputData>(&all)) {
    log::info("Saving input file containing {} iteration(s) to {}", inputs->size(), path);
    save_inputs(*inputs, path);
  } else {
    log::info("Saving output file containing concatenated iteration(s) to {}", path);
    save_run_results(std::get<RunResults>(all), path);
  }
  return 0;
}

constexpr Command kConcatCommand = {
    .name = "concat",
    .summary = "Put the iterations of several files behind each other.",
    .description =
        "Puts the iterations of files of inputs, or those of each runner of files of results, behind each "
        "other.",
    .add_options = add_concat_options,
    .run = run_concat,
};
constexpr Command kMergeCommand = {
    .name = "merge",
    .summary = "Combine inputs and outputs of earlier runs into one file of inputs.",
    .description =
        "Combines files of inputs and of results, iteration by iteration, into one file that --load-inputs "
        "takes.",
    .add_options = add_merge_options,
    .run = run_merge,
};
constexpr Command kToInputCommand = {
    .name = "to-input",
    .summary = "The former name of merge.",
    .description = "Does what `data merge` does.",
    .add_options = add_merge_options,
    .run = run_to_input,
};
constexpr const Command* kSubcommands[] = {&kConcatCommand, &kMergeCommand, &kToInputCommand};

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
