// assay convert: an ONNX model into an engine's plan, or into another ONNX model.
#include <filesystem>
#include <utility>

#include "assay/backend_set.h"
#include "backends/session_info.h"
#include "base/log.h"
#include "base/output_path.h"
#include "cli/command.h"
#include "cli/merging.h"
#include "cli/option_effects.h"
#include "cli/option_paths.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/runners.h"
#include "cli/options/unavailable.h"
#include "cli/quantizing.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "cli/shards.h"
#include "cli/values.h"
#include "engine/objects/calibrate.h"
#include "engine/specialize/plan_builder.h"
#include "graph/clone.h"
#include "inspect/layer_table.h"
#include "inspect/viewer_match.h"
#include "run/model_loader.h"
#include "run/script_parts.h"
#include "script/network_script.h"

namespace assay::cli::command_convert {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOutput = "-o";

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_model_options(parser, /*is_required=*/true,
                    "Shapes of inputs that no profile names, as in image:[1,3,224,224].",
                    {"--input-shapes", "--inputs"}, Names::kNothing);
  parser.add_group("Conversion").options = {
      {.names = {kOutput, "--output"}, .help = "The file to write.", .metavar = "FILE", .required = true},
      {.names = {"--convert-to"},
       .help =
           "What to write: an ONNX model (`onnx`), an engine's plan (`trt`), or the network as the engine's "
           "passes leave it, in ONNX "
           "(`onnx-like-trt-network`). Default: what the ending of the output stands for: .onnx, .onnxtxt "
           "and "
           ".txt a model, .plan, .engine and .trt a plan.",
       .choices = {"onnx", "trt", "onnx-like-trt-network"}},
      {.names = {"--threads"},
       .help = "Threads that the plan is for; default: the CPUs this process may use.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      opset_option(),
  };
  parser.add_group("Quantization").options = quantizing_options();
  parser.add_group("Shards").options = {
      shard_option("With --int8: calibrate on a part of the data. -o names the file of the part; `assay "
                   "merge` makes the cache "
                   "of all, for --calibration-cache.")};
  add_data_loader_options(parser);  // for a calibration
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser);
  add_onnx_save_options(parser);
  add_engine_building_options(parser, /*runs=*/false);
  add_unavailable_convert_options(parser);
}

/// The format of --convert-to, else that of the output's extension.
std::string target_of(const ParsedArgs& args, const std::string& output) {
  const Content ending = content_of_ending(output);
  const auto said = args.text("--convert-to");
  if (said && !args.is_upstream() && !is_special_file(output)) {
    const Content meant = *said == "trt" ? Content::kPlan : Content::kModel;
    if (ending != meant && ending != Content::kAny)
      log::critical(
          ErrorCode::kInvalidArgument,
          "-o/--output: --convert-to {} does not write what the ending of {} stands for. The endings are "
          "{} for an ONNX model, and {} for the plan of an engine.",
          *said, output, endings_text(Content::kModel), endings_text(Content::kPlan));
  }
  if (said) return *said;
  if (ending == Content::kModel) return "onnx";
  if (ending == Content::kPlan) return "trt";
  // As in upstream, which knows no other extensions.
  log::critical(
      ErrorCode::kInvalidArgument,
      "Could not automatically determine model type for: {}\n"
      "Please explicitly specify the type with the --convert-to option, or end the name with {} for an "
      "ONNX model, or with {} for the plan of an engine.",
      output, endings_text(Content::kModel), endings_text(Content::kPlan));
}

/// Checks the script before the work begins.
void prepare_calibration(CalibrationOptions& calibration) {
  std::shared_ptr<DataSource> first = calibration.data();
  first->prepare();
  calibration.data = [first, make = calibration.data]() mutable {
    return first != nullptr ? std::exchange(first, nullptr) : make();
  };
}

void read_calibration(const ParsedArgs& args, const ModelOptions& model, EngineBuildOptions& building) {
  const DataOptions data = read_data_options(args, model.input_shapes);
  building.calibration.data = calibration_data(data);
  building.calibration.is_random = are_drawn(data);
  if (data.script) prepare_calibration(building.calibration);
}

/// Options without an effect on the scales.
constexpr std::string_view kCalibrationNeutral[] = {"--convert-to", "--calibration-cache",
                                                    "--accuracy-report"};

/// A shard of a calibration: its statistics, in place of a model or plan.
int calibrate_part(CommandContext& context, const ShardChoice& choice) {
  const ParsedArgs& args = context.args();
  if (!args.has("--int8"))
    log::critical(ErrorCode::kInvalidArgument, "--shard cuts the data of a calibration: give --int8.");
  for (const char* option : {"--accuracy-target", "--accuracy-report", "--calibration-cache", "--int4"})
    if (args.has(option))
      log::critical(ErrorCode::kInvalidArgument,
                    "--shard calibrates on a part of the data, for which {} means nothing: leave it out.",
                    option);
  const std::string output = args.text(kOutput).value();
  if (content_of_ending(output) == Content::kModel || content_of_ending(output) == Content::kPlan)
    log::critical(
        ErrorCode::kInvalidArgument,
        "-o/--output: with --shard a part of a calibration is written, and no model: name a file such as "
        "part.json, not {}.",
        output);
  const ModelOptions model = read_model_options(args, Plans::kScripts);
  const ModelLoaderOptions loading = read_model_loader_options(args, model, context.registries().ops);
  EngineBuildOptions building = read_engine_building_options(
      args, context.invocation().as_polygraphy(), model.input_shapes, *context.registries().tactics);
  check_option_paths(args, {});
  context.announce();
  const DataOptions data = read_data_options(args, model.input_shapes);
  const auto shard = std::make_shared<eval::ShardSource>(calibration_data(data)(), *choice.shard);
  shard->prepare();
  building.calibration.data = [shard] { return shard; };
  building.calibration.is_random = are_drawn(data);
  ModelLoader loader(loading);
  const ModelSource source = loader.load_for(context.registries().backends.get("engine"));
  const Runtime runtime(context.registries().for_runtime());
  const PreparedBuild build = prepare_build(source.model, building);
  const CalibrationStatistics statistics = calibration_statistics(runtime, build.network, build.config);
  eval::PartOf part = part_of(context, "calibration", loading, data, kCalibrationNeutral);
  shard->describe(part);
  log::info("Calibrated on {} set(s) of inputs", statistics.sets());
  save_part(part_json(part, [&](JsonWriter& json) { statistics.write(json); }), output, choice);
  merge_automatic_parts(output, choice);
  return 0;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  if (const ShardChoice choice = read_shard(args, /*asks_mpi=*/false); choice.shard)
    return calibrate_part(context, choice);
  const std::string output = args.text(kOutput).value();
  const std::string target = target_of(args, output);
  const bool makes_plan = target == "trt",
             quantizes = args.has("--int4") || (args.has("--int8") && !args.is_upstream());
  const ModelOptions model = read_model_options(args, Plans::kScripts);
  ModelLoaderOptions loading = read_model_loader_options(args, model, context.registries().ops);
  EngineBuildOptions building = read_engine_building_options(
      args, context.invocation().as_polygraphy(), model.input_shapes, *context.registries().tactics);
  ModelSaveOptions save = loading.save;
  save.path = output;
  if (target == "onnx" && !quantizes) loading.save.path = output;
  check_option_paths(args, check_convert_effects(args, target, !model.network_script.empty()));
  if (!args.is_upstream())
    loading.check = [shapes = model.input_shapes](const Model& m) {
      DataLoader({.shapes = shapes}, DataLoader::Report::kNo).require_fit(tensor_infos(m.graph->inputs));
    };
  context.announce();
  if (building.config.int8 && (makes_plan || quantizes)) read_calibration(args, model, building);
  ModelLoader loader(loading);
  if (target == "onnx" && !quantizes) {
    loader.load_for(context.registries().backends.get("onnxrt"));
    return 0;
  }
  const ModelSource source = loader.load_for(context.registries().backends.get("engine"));
  if (target == "onnx-like-trt-network") {
    engine::BuildConfig config = engine::default_config(0);
    config.passes.set = context.registries().passes;
    const engine::PlanBuilder builder(*source.model, config);
    save_onnx_model(builder.canonical(), save);
    return 0;
  }
  const auto threads = args.integer("--threads");
  RuntimeOptions runtime_options = context.registries().for_runtime();
  if (threads)
    runtime_options.threads =
        static_cast<int>(require_at_least("--threads", std::min<int64_t>(*threads, 4096), 1));
  const Runtime runtime(std::move(runtime_options));
  if (!makes_plan) {
    save_onnx_model(*quantized_model(args, runtime, source.model, building), save);
    return 0;
  }
  const auto engine = engine_of(args, runtime, source.model, building);
  log::info("Saving engine to {}", output);
  engine->save(output);
  if (ReportPage* page = context.report_page()) {
    add_plan_tables(*engine, page->report());
    page->report().matching = match_plan(*engine);
    page->show(source.model, model.path);
    page->show(engine, output);
  }
  return 0;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "convert",
    .summary = "Convert a model to an engine's plan or to another ONNX model.",
    .description =
        "Builds the engine for a model and saves its plan, which runs without the model and is loaded in "
        "milliseconds; or saves the model as ONNX with the changes that the options ask for.",
    .add_options = add_options,
    .run = run,
    .checks_paths = true,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_convert
