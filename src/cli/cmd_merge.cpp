// assay merge: results of shards as one.
#include "cli/command.h"
#include "cli/merging.h"
#include "cli/options/logging.h"
#include "poly/evaluation.h"
#include "run/data_source.h"

namespace assay::cli::command_merge {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Files").options = {
      {.names = {"paths"},
       .help = "Files that shards have written, in any order, or folders of them (.json): results of `assay "
               "eval`, "
               "parts of calibrations (convert), ranges (debug range), runs (run --save-outputs) and "
               "conformance, "
               "and results of bench.",
       .arity = Arity::kAtLeastOne,
       .metavar = "PATH"},
      {.names = {"-o", "--output"}, .help = "The file to write.", .metavar = "FILE", .required = true},
      {.names = {"--incomplete"},
       .help = "Samples may be missing: what is there is merged, and can be merged further.",
       .arity = Arity::kNone},
      {.names = {"--metric-script"},
       .help = "The function that `assay eval` was given, FILE.py[:FUNCTION], where it measures the whole "
               "set. May be "
               "repeated.",
       .metavar = "FILE.py[:FUNCTION]"},
  };
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  std::vector<std::string> paths;
  const std::vector<std::string> given = args.list("paths").value();
  for (const std::string& path : given)
    for (std::string& file : iteration_files(path)) paths.push_back(std::move(file));
  context.announce();
  std::vector<std::string> scripts;
  const auto given_scripts = args.all("--metric-script");
  for (const auto& words : given_scripts) scripts.push_back(words.front());
  merge_files_to(paths, args.text("-o").value(), args.has("--incomplete"), poly::metric_functions(scripts));
  return 0;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "merge",
    .summary = "Merge the results of shards.",
    .description =
        "Merges what --shard has written over parts of a data set, in any order and any grouping, to the "
        "bytes "
        "that one process would have written. Results of other versions, models, data or options are "
        "refused, "
        "and samples that two files cover; those that none covers are named. Results of `assay bench` become "
        "one table, machine by machine. See docs/guide/evaluating.md.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_merge
