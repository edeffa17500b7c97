// assay run: inference on several backends, and whether they agree.
#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/command.h"
#include "cli/gen_script/run_script.h"
#include "cli/option_effects.h"
#include "cli/option_paths.h"
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
#include "console/text_renderer.h"
#include "poly/run_parts.h"
#include "run/comparator.h"
#include "run/saved_inputs.h"
#include "run/script_parts.h"
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

/// A run that passes has run something, or compared something.
void require_work(const ParsedArgs& args, const RunOptions& options, const RunReport& report) {
  const auto refuse = [&](const char* sentence) {
    if (!args.is_upstream()) log::critical(ErrorCode::kInvalidArgument, "{}", sentence);
    log::warning("{}", sentence);
  };
  bool has_run = false;
  for (const RunnerReport& r : report.runners) {
    has_run = has_run || !r.loaded;
    if (!r.loaded && r.iterations == 0)
      refuse(
          "Nothing was run: there is no set of inputs. Give --load-inputs a file that holds some, or leave "
          "it out.");
  }
  if (!has_run && report.pairs.empty() && !options.arbitrate && !options.validate && !report.runners.empty())
    refuse(
        "Nothing was compared: the files of --load-outputs hold the results of one runner. Name those of "
        "another "
        "one, too, or a runner.");
}

/// A program that is written may run elsewhere: of the line's files only its own matters.
std::vector<std::string> others_than(std::string_view option, const ParsedArgs& args) {
  std::vector<std::string> others;
  for (const GivenOption& o : args.occurrences())
    if (o.name != option) others.push_back(o.name);
  return others;
}

/// Data that are not the model's are an error before anything is built.
void refuse_misfits(RunOptions& options) {
  options.data.refuses_misfits = true;
  options.model.check = [data = options.data, saved = options.load_inputs](const Model& model) {
    const std::vector<TensorInfo> inputs = tensor_infos(model.graph->inputs);
    DataLoaderOptions own = data;
    if (!saved.empty()) own.ranges.clear();
    DataLoader(own, DataLoader::Report::kNo).require_fit(inputs);
    require_saved_inputs_fit(saved, inputs);
  };
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
  EngineBuildOptions building = read_engine_building_options(
      args, context.invocation().as_polygraphy(), model.input_shapes, *context.registries().tactics);
  DataOptions data = read_data_options(args, model.input_shapes);
  building.calibration.data = calibration_data(data);
  building.calibration.is_random = are_drawn(data);
  const std::vector<poly::RunRunner> runners = read_runners(args, backends);
  for (const poly::RunRunner& r : runners)
    options.runners.push_back(poly::runner_choice(r, backends, building));
  poly::set_engine(building, options.session);
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
    options.arbitrate = options.arbitrate || runner.backend->is_oracle;
  options.session.judged = options.arbitrate;
  const std::vector<std::string> without_effect =
      check_run_effects(args, {.is_plan = model.is_plan,
                               .is_foreign = !model.foreign_format.empty(),
                               .is_script = !model.network_script.empty(),
                               .runners = runners.size()});
  check_option_paths(args, args.has("--gen") ? others_than("--gen", args) : without_effect);
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
  if (!args.is_upstream() && options.source == nullptr) refuse_misfits(options);
  context.announce();
  std::vector<std::string> names;
  for (const auto& module : context.registries().extensions) names.push_back(module->info().name);
  log::verbose("Loaded extension modules: {}", python_list_repr(names));
  TextRenderer renderer(read_error_pictures(args));
  const RunReport report = run(options, renderer);
  if (report.outcome == RunOutcome::kPassed) require_work(args, options, report);
  return static_cast<int>(report.outcome);
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
    .checks_paths = true,
};

}  // namespace assay::cli::command_run
