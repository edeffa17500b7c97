// assay run: runs inference on several backends and compares them.
#include <algorithm>
#include <optional>

#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/command.h"
#include "cli/gen_script/run_script.h"
#include "cli/merging.h"
#include "cli/option_effects.h"
#include "cli/option_paths.h"
#include "cli/options/comparator.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/extensions.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/resources.h"
#include "cli/options/runners.h"
#include "cli/options/unavailable.h"
#include "cli/registries.h"
#include "cli/run_page.h"
#include "cli/run_report.h"
#include "cli/run_settings.h"
#include "cli/run_shards.h"
#include "cli/settings_file.h"
#include "cli/trace_output.h"
#include "run/comparator.h"
#include "run/saved_inputs.h"

namespace assay::cli::command_run {
namespace {

void add_options(ArgParser& parser, const Registries& registries) {
  add_logging_options(parser);
  add_runner_options(parser, registries.backends);
  add_model_options(parser, /*is_required=*/false);
  add_onnx_save_options(parser);
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser);
  add_data_loader_options(parser);
  add_comparator_options(parser, registries.extensions);
  add_engine_building_options(parser, /*runs=*/true);
  add_unavailable_run_options(parser);
  add_module_options(parser, registries);
  add_plugin_options(parser, registries.plugins);
  const char* const title = "Settings and Generated Program";
  parser.add_group(title).options = poly::options_of(title);
  parser.add_group("Shards").options = {
      shard_option("Run a part of the sets of inputs: every N-th. --save-outputs, --save-inputs name files "
                   "of the part, for "
                   "`assay merge`.")};
  add_run_report_options(parser);
}

/// Refuses a line that would neither run nor compare anything.
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

/// A generated program may run elsewhere, so only its own file is checked.
std::vector<std::string> others_than(std::string_view option, const ParsedArgs& args) {
  std::vector<std::string> others;
  for (const GivenOption& o : args.occurrences())
    if (o.name != option) others.push_back(o.name);
  return others;
}

/// Data that do not fit the model are an error before anything is built.
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

/// The command line with the settings of a file in front, which also apply to the process.
ParsedArgs with_settings(const CommandContext& context, SettingsFile& file) {
  ArgParser parser("assay run", "");
  add_options(parser, context.registries());
  add_extension_options(parser);
  add_resource_options(parser);
  add_report_option(parser);
  add_trace_option(parser);
  ParsedArgs args = file.before(context.args(), parser);
  const auto adds = [&](const char* title) {
    const std::vector<Option> options = poly::options_of(title);
    return std::any_of(options.begin(), options.end(), [&](const Option& o) {
      return args.count(o.names.front()) > context.args().count(o.names.front());
    });
  };
  if (adds("Logging")) apply_logging_options(args);
  if (adds("Resources")) apply_resource_options(args);
  return args;
}

/// The properties of a run that determine which options have an effect.
RunSituation situation_of(const poly::RunSettings& settings) {
  const poly::RunModel& model = settings.model;
  return {.is_plan = model.format == "engine",
          .is_foreign = model.format != "engine" && model.format != "onnx",
          .is_script = !model.network_script.empty(),
          .runners = settings.runners.size()};
}

/// An error about a setting from a file says so.
template <typename Body>
void explained(const SettingsFile* file, Body&& body) {
  if (file == nullptr) return body();
  try {
    body();
  } catch (const log::LoggedError& e) {
    file->explain(e.what());
    throw;
  } catch (Error& e) {
    const std::string known = e.what();
    if (known.find(file->path()) == std::string::npos) e.add_context("with the settings of " + file->path());
    throw;
  }
}

/// An error in a runner names it: the lines before it are those of a run that has ended.
template <typename Body>
RunReport naming_runner(const RunSummary& summary, Body&& body) {
  try {
    return body();
  } catch (Error& e) {
    summary.finish_after_error();
    const std::string runner = summary.running();
    if (!runner.empty() && std::string_view(e.what()).find(runner) == std::string_view::npos)
      e.add_context("in runner " + runner);
    throw;
  }
}

/// The last of a job's shards merges.
void finish_shard(RunShard& shard) {
  for (const std::string& path : shard.finish()) merge_automatic_parts(path, shard.choice());
}

int run_line(CommandContext& context, const ParsedArgs& args, const SettingsFile* file) {
  const ExtensionArgs modules(args, context.registries());
  poly::RunSettings settings;
  RunOptions options;
  explained(file, [&] {
    modules.validate();
    const poly::ModelEdits edits = modules.model_edits();
    settings = read_run_settings(args, context.invocation().as_polygraphy(), context.registries(), edits);
    if (file != nullptr) file->complete(settings);
    options = poly::run_options(settings, context.registries(), edits);
    const std::vector<std::string> without_effect = check_run_effects(args, situation_of(settings));
    check_option_paths(args, args.has("--gen") ? others_than("--gen", args) : without_effect);
  });
  if (args.has("--gen")) {
    refuse_run_reports(args);
    check_options(options);
  }
  if (const auto path = args.text("--save-settings")) {
    log::info("Saving settings to: {}", *path);
    poly::save_run_settings(settings, *path);
  }
  if (args.has("--gen")) {
    write_run_script({.args = args,
                      .invocation = context.invocation(),
                      .registries = context.registries(),
                      .settings = settings,
                      .runners = options.runners});
    return 0;
  }
  check_conditions(args);
  if (!args.is_upstream() && options.source == nullptr) refuse_misfits(options);
  std::optional<RunShard> shard;
  if (ShardChoice choice = read_shard(args, /*asks_mpi=*/false); choice.shard)
    shard.emplace(context, settings, std::move(choice), options);
  context.announce();
  std::vector<std::string> names;
  for (const auto& module : context.registries().extensions) names.push_back(module->info().name);
  log::verbose("Loaded extension modules: {}", python_list_repr(names));
  PageSummary summary({.details = args.is_upstream() || log::enabled(log::Severity::kVerbose),
                       .all_outputs = args.has("--all"),
                       .pictures = poly::error_pictures_of(settings.save)});
  if (!args.is_upstream()) summary.refuse_unknown_outputs();
  const RunReport report = naming_runner(summary, [&] { return run(options, summary); });
  if (context.report_page() != nullptr) summary.fill(*context.report_page(), report);
  if (report.outcome == RunOutcome::kPassed && !shard) require_work(args, options, report);
  if (shard && shard->is_empty()) {
    log::info("There are fewer sets of inputs than shards: this one has none.");
    finish_shard(*shard);
    return 0;
  }
  summary.finish(report);
  if (shard) finish_shard(*shard);
  const RunOutcome outcome =
      write_run_reports(args, options, summary.tables(), report, context.invocation().command_line);
  if (!args.is_upstream()) suggest_next(args, options, report, summary.tables());
  return static_cast<int>(outcome);
}

int run_models(CommandContext& context) {
  const auto path = context.args().text("--settings");
  if (!path) return run_line(context, context.args(), nullptr);
  SettingsFile file(*path, context.registries().backends);
  std::optional<ParsedArgs> args;
  explained(&file, [&] { args = with_settings(context, file); });
  return run_line(context, *args, &file);
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
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_run
