// assay debug repeat: runs a command repeatedly and sorts its artifacts by outcome.
#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/options/iterations.h"
#include "cli/options/logging.h"

namespace assay::cli::command_debug_repeat {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_iteration_options(parser, {.has_until = true, .has_jobs = true});
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const Until until = read_until(args);
  if (!args.has("--artifacts"))
    log::warning(
        "`--artifacts` was not specified; No artifacts will be stored during this run! Is this what you "
        "intended?");
  const std::unique_ptr<debug::Check> check = read_check(args, /*compares=*/false);
  context.announce();
  SearchText text(args, /*shows_kinds=*/false);
  debug::Iterations iterations(read_iteration_options(args), *check, text);
  repeat_until(until, iterations, {});
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "repeat",
    .summary = "Repeat a command, sorting what it leaves by how it ended.",
    .description =
        "Runs a command again and again, and moves the files that it leaves into the folders `good` and "
        "`bad`.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_repeat
