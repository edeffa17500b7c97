// assay debug build: builds an engine repeatedly and checks each.
#include <fmt/format.h>

#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/options/engine_building.h"
#include "cli/options/engine_search.h"
#include "cli/registries.h"

namespace assay::cli::command_debug_build {
namespace {

void add_options(ArgParser& parser) {
  add_engine_search_options(parser, {.candidate = kPlanCandidate, .has_until = true, .has_replay = false});
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const Until until = read_until(args);
  const ModelOptions model = read_model_options(args, Plans::kScripts);
  EngineBuildOptions building = read_engine_building_options(
      args, context.invocation().as_polygraphy(), model.input_shapes, *context.registries().tactics);
  if (!args.has("--artifacts"))
    log::warning(
        "`--artifacts` was not specified; No artifacts will be stored during this run! Is this what you "
        "intended?");
  const std::unique_ptr<debug::Check> check = read_check(args, /*compares=*/false);
  const debug::IterationOptions options = read_iteration_options(args, kPlanCandidate);
  SearchText text(args, /*shows_kinds=*/false);
  debug::Iterations iterations(options, *check, text);
  context.announce();
  read_calibration_data(args, model, building);
  const ModelSource source = load_searched_network(context, model);
  const Runtime runtime(context.registries().for_runtime());
  const auto build = [&]() -> std::optional<debug::Answer> {
    try {
      const log::Indent inner;
      const auto engine = build_engine(runtime, source.model, building);
      log::info("Saving engine to {}", options.candidate);
      engine->save(options.candidate);
      return std::nullopt;
    } catch (const Error& e) {
      log::warning(
          "Failed to create network or engine, continuing to the next iteration.\nNote: Error was: {}",
          e.what());
      return debug::Answer{.kind = debug::AnswerKind::kDidNotRun, .failure = e.what()};
    }
  };
  repeat_until(until, iterations, {.instead = build});
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "build",
    .summary = "Build an engine again and again, sorting what its checks leave by how they ended.",
    .description =
        "Builds an engine again and again, with what timing chooses each time, and checks each. What the "
        "checks leave, "
        "such as the replay of --save-tactics, goes into the folders `good` and `bad`, which `inspect "
        "diff-tactics` compares.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_build
