// assay merge: results of shards as one.
#include <filesystem>

#include "base/log.h"
#include "cli/command.h"
#include "cli/eval_text.h"
#include "cli/options/logging.h"
#include "eval/evaluation.h"
#include "poly/evaluation.h"
#include "run/data_source.h"

namespace assay::cli::command_merge {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Files").options = {
      {.names = {"paths"},
       .help = "Results of `assay eval`, in any order, or folders of them (.json).",
       .arity = Arity::kAtLeastOne,
       .metavar = "PATH"},
      {.names = {"-o", "--output"}, .help = "The file to write.", .metavar = "FILE", .required = true},
      {.names = {"--incomplete"},
       .help = "Samples may be missing: what is there is merged, and can be merged further.",
       .arity = Arity::kNone},
  };
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  std::vector<std::string> paths;
  const std::vector<std::string> given = args.list("paths").value();
  for (const std::string& path : given)
    for (std::string& file : iteration_files(path)) paths.push_back(std::move(file));
  context.announce();
  const eval::Evaluation all = eval::merge_files(paths);
  if (!args.has("--incomplete")) {
    try {
      poly::require_complete(all);
    } catch (Error& e) {
      if (all.samples)
        e.set_remedy("This evaluates only them: " + evaluation_command(all, all.missing()) +
                     "\n--incomplete merges what is there.");
      throw;
    }
  }
  log::info("{}", evaluation_text(all));
  log::info("Saving the result of {} file(s) to {}", paths.size(), args.text("-o").value());
  save_evaluation(all, args.text("-o").value());
  return 0;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "merge",
    .summary = "Merge the results of an evaluation's shards.",
    .description =
        "Merges results of `assay eval` over parts of a data set: in any order and any grouping, to the "
        "bytes "
        "that one process would have written. Results of other versions, models, data or options are "
        "refused, "
        "and samples that two files cover; those that none covers are named with the command that evaluates "
        "only them.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_merge
