// assay debug build: builds an engine repeatedly and checks each.
#include <fmt/format.h>

#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/iterations.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/unavailable.h"
#include "cli/registries.h"
#include "run/model_loader.h"
#include "run/script_parts.h"
#include "script/network_script.h"

namespace assay::cli::command_debug_build {
namespace {

constexpr const char* kCandidate = "polygraphy_debug.engine";

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_iteration_options(parser, {.candidate = kCandidate, .has_until = true, .has_replay = false});
  add_model_options(parser, /*is_required=*/true,
                    "Shapes of inputs that no profile names, as in image:[1,3,224,224].",
                    {"--input-shapes", "--inputs"}, Names::kNothing);
  add_data_loader_options(parser);  // for a calibration
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser);
  add_engine_building_options(parser, /*runs=*/false);
  add_unavailable_convert_options(parser);
}

/// The network that each build starts from.
ModelSource load_network(CommandContext& context, const ModelOptions& model) {
  const ParsedArgs& args = context.args();
  ModelLoaderOptions loading = read_model_loader_options(args, model, context.registries().ops);
  if (!model.network_script.empty())
    loading.make = script_network(script::parse_reference(
        model.network_script, args.text("--trt-network-func-name").value_or(script::kNetworkFunction)));
  ModelLoader loader(loading);
  return loader.load_for(context.registries().backends.get("engine"));
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
  const debug::IterationOptions options = read_iteration_options(args, kCandidate);
  SearchText text(args, /*shows_kinds=*/false);
  debug::Iterations iterations(options, *check, text);
  context.announce();
  if (building.config.int8) {
    const DataOptions data = read_data_options(args, model.input_shapes);
    building.calibration.data = calibration_data(data);
    building.calibration.is_random = are_drawn(data);
  }
  const ModelSource source = load_network(context, model);
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
};

}  // namespace assay::cli::command_debug_build
