#include "cli/options/engine_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/logging.h"
#include "cli/options/onnx_model.h"
#include "cli/options/unavailable.h"
#include "cli/registries.h"
#include "cli/values.h"
#include "run/script_parts.h"
#include "script/network_script.h"

namespace assay::cli {
namespace {

constexpr const char* kJournal = "polygraphy_debug.journal";

/// Options that change no answer.
constexpr const char* kNoAnswers[] = {
    "--journal", "--resume", "--json",       "--log-file",    "--verbosity",        "-v",      "--jobs",
    "-q",        "--silent", "--log-format", "--show-output", "--hide-fail-output", "--report"};

debug::SearchIdentity identity_of(const CommandContext& context, const std::string& model) {
  std::string options;
  for (const GivenOption& o : context.args().occurrences())
    if (std::none_of(std::begin(kNoAnswers), std::end(kNoAnswers),
                     [&](const char* n) { return o.name == n; }))
      options += fmt::format("{}{} {}", options.empty() ? "" : " ", o.name, fmt::join(o.words, " "));
  return {{"command", fmt::format("debug {}", context.command().name)},
          {"model", model},
          {"the model's file", file_identity(model)},
          {"options", options}};
}

std::optional<debug::AccuracyGoal> read_goal(const ParsedArgs& args) {
  const auto text = args.text("--accuracy");
  if (!text) return std::nullopt;
  if (args.has("--check"))
    log::critical(
        ErrorCode::kInvalidArgument,
        "--accuracy is checked in this process, so that there is nothing for --check to say: leave one "
        "of them out.");
  return debug::AccuracyGoal::parse(*text);
}

}  // namespace

void add_engine_search_options(ArgParser& parser, const IterationGroup& group) {
  add_logging_options(parser);
  add_iteration_options(parser, group);
  add_model_options(parser, /*is_required=*/true,
                    "Shapes of inputs that no profile names, as in image:[1,3,224,224].",
                    {"--input-shapes", "--inputs"}, Names::kNothing);
  add_data_loader_options(parser);
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser);
  add_engine_building_options(parser, /*runs=*/false);
  add_unavailable_convert_options(parser);
}

OptionGroup& add_in_process_options(ArgParser& parser, const std::string& accuracy) {
  OptionGroup& group = parser.add_group("Search");
  group.options = {
      {.names = {"--accuracy"},
       .help = accuracy +
               " 40dB: a signal-to-noise ratio; abs:0.001: the largest error; rel:0.01: the largest error in "
               "proportion to the largest number of its output; against float64, of the worst output.",
       .metavar = "GOAL"},
      {.names = {"--runs"},
       .help = "How often each engine runs on the same data; results that differ are a failure of their own "
               "kind, "
               "flaky. Default: 3.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--json"}, .help = "Save what was found as JSON.", .metavar = "FILE"},
  };
  return group;
}

ModelSource load_searched_network(CommandContext& context, const ModelOptions& model) {
  const ParsedArgs& args = context.args();
  ModelLoaderOptions loading = read_model_loader_options(args, model, context.registries().ops);
  if (!model.network_script.empty())
    loading.make = script_network(script::parse_reference(
        model.network_script, args.text("--trt-network-func-name").value_or(script::kNetworkFunction)));
  ModelLoader loader(loading);
  return loader.load_for(context.registries().backends.get("engine"));
}

void read_calibration_data(const ParsedArgs& args, const ModelOptions& model, EngineBuildOptions& building) {
  if (!building.config.int8) return;
  const DataOptions data = read_data_options(args, model.input_shapes);
  building.calibration.data = calibration_data(data);
  building.calibration.is_random = are_drawn(data);
}

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "" : " ";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += "'";
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
  return line;
}

EngineSearchSetup::EngineSearchSetup(CommandContext& context)
    : context_(context), text_(context.args(), /*shows_kinds=*/true) {
  const ParsedArgs& args = context.args();
  const ModelOptions model = read_model_options(args, Plans::kScripts);
  EngineBuildOptions building = read_engine_building_options(
      args, context.invocation().as_polygraphy(), model.input_shapes, *context.registries().tactics);
  building.load_tactics.clear(), building.save_tactics.clear();  // the search itself uses them
  const std::optional<debug::AccuracyGoal> goal = read_goal(args);
  const auto runs = static_cast<int>(require_at_least("--runs", args.integer("--runs").value_or(3), 1));
  const bool is_command = args.has("--check");
  const std::string path = args.text("--journal").value_or(kJournal);
  debug::IterationOptions iterations = read_iteration_options(args, is_command ? kPlanCandidate : "", path);
  if (is_command)
    check_ = read_check(args, /*compares=*/true);
  else if (args.has("--repeat"))
    log::critical(ErrorCode::kInvalidArgument,
                  "--repeat is for a --check command; --runs says it for engines here.");
  context.announce();

  read_calibration_data(args, model, building);
  const ModelSource source = load_searched_network(context, model);
  debug::EngineCheck* in_process = nullptr;
  if (check_ == nullptr) {
    debug::EngineCheckOptions options{.model = source.model, .runs = runs, .goal = goal};
    options.timeout_seconds = args.number("--check-timeout").value_or(0);
    options.asked = {
        .float16 = building.config.fp16, .bfloat16 = building.config.bf16, .int8 = building.config.int8};
    auto own = std::make_unique<debug::EngineCheck>(std::move(options),
                                                    input_cache(read_data_options(args, model.input_shapes)));
    own->set_jobs(iterations.jobs);
    in_process = own.get();
    check_ = std::move(own);
  }
  const debug::SearchIdentity identity = identity_of(context, model.path);
  journal_ =
      args.has("--resume") ? debug::Journal::resume(path, identity) : debug::Journal::begin(path, identity);
  if (!journal_->failure().empty()) check_->look_for(journal_->failure());
  iterations.save_replay.clear();
  debug::EngineSearchOptions options{.runtime = context.registries().for_runtime(),
                                     .model = source.model,
                                     .building = std::move(building),
                                     .candidate = iterations.candidate};
  // A request that cannot be followed is an answer here, not a warning for each build.
  options.runtime.on_warning = [](const std::string& sentence) {
    log::message(log::Severity::kVerbose, "{}", sentence);
  };
  iterations_.emplace(std::move(iterations), *check_, text_);
  iterations_->use(*journal_);
  search_.emplace(std::move(options), *iterations_, in_process);
}

void EngineSearchSetup::end() {
  if (context_.args().has("--journal")) return;
  std::error_code ignored;
  std::filesystem::remove(journal_->path(), ignored);
}

}  // namespace assay::cli
