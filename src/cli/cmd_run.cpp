// assay run: inference on several backends, and whether they agree.
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/command.h"
#include "cli/gen_script/run_script.h"
#include "cli/options/comparator.h"
#include "cli/options/compare_functions.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/extensions.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/runners.h"
#include "cli/options/unavailable.h"
#include "cli/registries.h"
#include "poly/run_parts.h"
#include "run/comparator.h"
#include "run/script_parts.h"
#include "run/text_renderer.h"
#include "script/network_script.h"

namespace assay::cli::command_run {
namespace {

constexpr const char* kSavePath = "--save-onnx";

void add_options(ArgParser& parser, const Registries& registries) {
  add_logging_options(parser);
  add_runner_options(parser, registries.backends);
  add_model_options(parser, /*is_required=*/false);
  add_onnx_save_options(parser, kSavePath);
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser);
  add_data_loader_options(parser);
  add_comparator_options(parser, registries.extensions);
  add_engine_building_options(parser, /*runs=*/true);
  add_unavailable_run_options(parser);
  add_module_options(parser, registries);
  parser.add_group("Generated Program").options = {gen_script_option()};
}

int run_models(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ExtensionArgs modules(args, context.registries());
  modules.validate();
  RunOptions options;
  options.session = read_session_options(args);
  context.registries().give_to(options.session);
  ModelOptions model = read_model_options(args, Plans::kAndForeign);
  const BackendSet& backends = context.registries().backends;
  EngineBuildOptions building =
      read_engine_building_options(args, context.invocation().as_polygraphy(), model.input_shapes);
  DataOptions data = read_data_options(args, model.input_shapes);
  building.calibration.data = calibration_data(data);
  building.calibration.is_random = are_drawn(data);
  const std::vector<poly::RunRunner> runners = read_runners(args, backends);
  warn_of_runner_options(args, model.is_plan);
  for (const poly::RunRunner& r : runners)
    options.runners.push_back(poly::runner_choice(r, backends, building, model.is_plan));
  options.model = read_model_loader_options(args, model.path, kSavePath, context.registries().ops);
  options.model.is_plan = model.is_plan;
  options.model.foreign_format = model.foreign_format;
  if (!model.network_script.empty())
    options.model.make = script_network(script::parse_reference(
        model.network_script, args.text("--trt-network-func-name").value_or(script::kNetworkFunction)));
  options.model.edits = modules.model_edits();
  options.data = std::move(data.random);
  options.load_inputs = std::move(data.load_inputs);
  if (data.script) options.source = script_data(*data.script);
  read_comparator_options(args, options, context.registries().extensions);
  for (const RunnerChoice& runner : options.runners)
    options.arbitrate = options.arbitrate || runner.backend->name == "reference";
  options.session.judged = options.arbitrate;
  if (!args.has("--trt")) warn_of_builder_options(args);
  if (args.has("--gen")) {
    check_options(options);
    write_run_script({.args = args,
                      .invocation = context.invocation(),
                      .registries = context.registries(),
                      .model = model,
                      .runners = runners,
                      .building = building,
                      .options = options});
    return 0;
  }
  context.announce();
  std::vector<std::string> names;
  for (const auto& module : context.registries().extensions) names.push_back(module->info().name);
  log::verbose("Loaded extension modules: {}", python_list_repr(names));
  TextRenderer renderer(read_error_pictures(args));
  return static_cast<int>(run(options, renderer).outcome);
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "run",
    .summary = "Run a model on several backends and compare what they give.",
    .description =
        "Runs inference on the model with each runner, on the same inputs, and compares the outputs of each "
        "runner with "
        "those of the next. With --ref, the float64 reference tells which of them is wrong.",
    .add_options = add_options,
    .run = run_models,
};

}  // namespace assay::cli::command_run
