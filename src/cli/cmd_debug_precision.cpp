// assay debug precision: which layers must run in a higher precision.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/options/engine_building.h"
#include "cli/options/engine_search.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "debug/precision_marker.h"
#include "debug/precision_search.h"
#include "run/engine_building.h"

namespace assay::cli::command_debug_precision {
namespace {

using debug::PrecisionPoint;
using debug::PrecisionResult;

void add_options(ArgParser& parser) {
  add_engine_search_options(parser, {.candidate = kPlanCandidate,
                                     .has_journal = true,
                                     .has_jobs = true,
                                     .has_repeat = true,
                                     .without_check = "and without --accuracy, you are asked each time",
                                     .journal = "polygraphy_debug.journal"});
  OptionGroup& group = add_in_process_options(
      parser,
      "Find a small set of layers to hold in float32 so that results are so exact while all others are "
      "computed in the type that --fp16, --bf16 or --int8 allows; engines run in this process.");
  group.options.push_back({.names = {"--mode"},
                           .help = "With a check: bisect halves the number of layers that are marked, linear "
                                   "marks one more each time. "
                                   "Default: bisect.",
                           .choices = {"bisect", "linear"}});
  group.options.push_back({.names = {"--dir", "--direction"},
                           .help = "With a check: whether layers are marked from the network's inputs on "
                                   "(forward) or from its outputs "
                                   "(reverse). "
                                   "Default: forward.",
                           .choices = {"forward", "reverse"}});
  group.options.push_back({.names = {"-p", "--precision"},
                           .help = "With a check: what marked layers compute in. Default: float32.",
                           .choices = {"float32", "float16"}});
}

/// The words that request the layers' types on a command line.
std::vector<std::string> layer_words(const std::vector<LayerTypes>& types) {
  std::vector<std::string> words = {"--layer-precisions"};
  for (const LayerTypes& t : types) words.push_back(fmt::format("{}:{}", t.layers, dtype_name(t.precision)));
  return words;
}

// ---- With a check: Polygraphy's search over the first, or last, layers.

DType read_precision(const ParsedArgs& args, const BuilderConfig& config) {
  const DType precision = args.text("-p") == "float16" ? DType::kFloat16 : DType::kFloat32;
  if (precision == DType::kFloat16 && !config.fp16)
    log::critical(
        ErrorCode::kInvalidArgument,
        "Layers cannot be marked to run in float16 as long as the engine may not use it: give --fp16, too.");
  if (precision == DType::kFloat16 && !config.int8)
    log::warning(
        "float16 is the higher precision, and there is no lower one than float16: was --int8 meant to be "
        "given?");
  if (!config.fp16 && !config.bf16 && !config.int8 && !args.has("--tf32"))
    log::critical(
        ErrorCode::kInvalidArgument,
        "No precision but float32 is allowed, so that there is nothing to search: give --int8, --fp16, "
        "--bf16 or --tf32.");
  return precision;
}

/// The types requested for the marked layers; the user's own requests for layers come after them.
std::vector<LayerTypes> marked_types(const std::vector<debug::PrecisionLayer>& layers, size_t marked,
                                     bool forward, DType precision, const std::vector<LayerTypes>& own) {
  std::vector<LayerTypes> types;
  for (size_t i = 0; i < marked; ++i)
    types.push_back({.layers = layers[forward ? i : layers.size() - 1 - i].name, .precision = precision});
  types.insert(types.end(), own.begin(), own.end());
  return types;
}

void save_marked(size_t layers, bool is_found, const std::vector<LayerTypes>& marked, size_t checks,
                 const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object();
  json.key("result").value(is_found ? "found" : "nothing passes");
  json.key("checks").value(static_cast<uint64_t>(checks));
  json.key("layers").value(static_cast<uint64_t>(layers));
  json.key("marked").begin_array();
  for (const LayerTypes& t : marked) json.value(t.layers);
  json.end_array();
  json.key("options").begin_array();
  if (!marked.empty())
    for (const std::string& word : layer_words(marked)) json.value(word);
  json.end_array().end_object();
  file.commit();
}

int run_marker(CommandContext& context) {
  const ParsedArgs& args = context.args();
  for (const char* option : {"--journal", "--resume", "--runs", "--jobs"})
    if (args.has(option))
      log::critical(ErrorCode::kInvalidArgument,
                    "{} is for --accuracy; with a check --load-debug-replay goes on.", option);
  const ModelOptions model = read_model_options(args, Plans::kScripts);
  EngineBuildOptions building = read_engine_building_options(
      args, context.invocation().as_polygraphy(), model.input_shapes, *context.registries().tactics);
  const DType precision = read_precision(args, building.config);
  // This command's default is to obey, under upstream's name, too.
  if (!args.has("--precision-constraints"))
    building.config.precision_constraints = PrecisionConstraints::kObey;
  const bool forward = args.text("--dir").value_or("forward") == "forward";
  const auto mode = args.text("--mode") == "linear" ? debug::MarkerMode::kLinear : debug::MarkerMode::kBisect;
  const std::unique_ptr<debug::Check> check = read_check(args, /*compares=*/false);
  const debug::IterationOptions options = read_iteration_options(args, kPlanCandidate);
  SearchText text(args, /*shows_kinds=*/false);
  debug::Iterations iterations(options, *check, text);
  context.announce();
  read_calibration_data(args, model, building);
  const ModelSource source = load_searched_network(context, model);
  const Runtime runtime(context.registries().for_runtime());
  const std::vector<LayerTypes> own = building.config.layer_types;
  const std::vector<debug::PrecisionLayer> layers = debug::markable_layers(*source.model, own);
  log::start("Using {} as higher precision", dtype_name(precision));
  const char* const which = forward ? "first" : "last";

  const auto passes = [&](size_t marked, size_t remaining) {
    const auto build = [&]() -> std::optional<debug::Answer> {
      const log::Indent inner;
      log::info("Selecting {} {} layer(s) to run in higher precision", which, marked);
      building.config.layer_types = marked_types(layers, marked, forward, precision, own);
      try {
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
    return iterations
        .run({.write = {}, .question = {}, .state = {}, .remaining = remaining, .instead = build})
        .answer.passed();
  };
  iterations.begin("");
  const std::optional<size_t> found = debug::search_marker(layers.size(), mode, passes);
  iterations.end();
  const std::vector<LayerTypes> marked = marked_types(layers, found.value_or(0), forward, precision, {});
  if (const auto path = args.text("--json"))
    save_marked(layers.size(), found.has_value(), marked, iterations.checks(), *path);
  if (!found) {
    log::error("Could not find a configuration that satisfied accuracy requirements.");
    return 0;
  }
  log::finish("To achieve acceptable accuracy, try running the {} {} layer(s) in higher precision", which,
              *found);
  if (!args.is_upstream() && *found > 0) log::info("These are: {}", shell_line(layer_words(marked)));
  return 0;
}

// ---- By an accuracy: a small set.

DType read_lowered(const ParsedArgs& args) {
  std::vector<std::pair<const char*, DType>> given;
  for (const auto& [option, dtype] :
       {std::pair{"--fp16", DType::kFloat16}, std::pair{"--bf16", DType::kBFloat16},
        std::pair{"--int8", DType::kInt8}})
    if (args.has(option)) given.emplace_back(option, dtype);
  if (given.size() != 1)
    log::critical(
        ErrorCode::kInvalidArgument,
        "--accuracy goes with one of --fp16, --bf16 and --int8: the type for all layers but those that are "
        "found.");
  return given.front().second;
}

std::vector<std::string> option_words(const PrecisionResult& r, DType lowered) {
  std::vector<std::string> words = {lowered == DType::kFloat16    ? "--fp16"
                                    : lowered == DType::kBFloat16 ? "--bf16"
                                                                  : "--int8"};
  if (r.types.empty()) return words;
  words.emplace_back("--precision-constraints");
  words.emplace_back(r.constraints == PrecisionConstraints::kObey ? "obey" : "prefer");
  for (const std::string& word : layer_words(r.types)) words.push_back(word);
  return words;
}

/// The layers that matter most, with what they add.
std::string sensitivities_text(const PrecisionResult& r) {
  if (r.sensitivities.empty()) return {};
  std::vector<size_t> order(r.layers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return r.sensitivities[a] > r.sensitivities[b]; });
  constexpr size_t kMost = 10;
  std::string text =
      "\nThe most sensitive layers, with the error that lowering one adds, in proportion to the goal:";
  for (size_t i = 0; i < std::min(kMost, order.size()); ++i)
    text += fmt::format("\n    {:<10.3g} {}", std::sqrt(r.sensitivities[order[i]]), r.layers[order[i]].name);
  return text;
}

/// The layers that could not be searched; empty: none.
std::string not_alone_text(const PrecisionResult& r) {
  if (r.not_alone.empty()) return {};
  return fmt::format("\n{} layer(s) in bodies stay in float32, because they cannot be held one by one: {}{}",
                     r.not_alone.size(), r.not_alone.front(), r.not_alone.size() > 1 ? ", ..." : "");
}

std::string points_text(const PrecisionResult& r) {
  std::string text = "\nAccuracy against time (* none of the others is both as fast and as exact):";
  for (const PrecisionPoint& p : r.points)
    text += fmt::format("\n  {} {:>5} in float32 | {:>10.3f} ms | {}{}", p.is_best ? "*" : " ", p.held.size(),
                        p.milliseconds, p.accuracy.str(), p.held == r.answer.held ? "  <- the answer" : "");
  return text;
}

void save_point(JsonWriter& json, const PrecisionResult& r, const PrecisionPoint& p) {
  json.begin_object().key("float32").begin_array();
  for (const size_t i : p.held) json.value(r.layers[i].name);
  json.end_array();
  for (const auto& [name, value] : p.accuracy.measures()) json.key(name).value(value);
  json.key("milliseconds").value(p.milliseconds).key("best").value(p.is_best).end_object();
}

void save_json(const PrecisionResult& r, const debug::PrecisionOptions& options, size_t checks,
               const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object();
  json.key("accuracy").value(options.goal.str());
  json.key("lowered").value(dtype_name(options.lowered));
  json.key("checks").value(static_cast<uint64_t>(checks));
  json.key("layers").value(static_cast<uint64_t>(r.layers.size()));
  json.key("not_alone").begin_array();
  for (const std::string& layer : r.not_alone) json.value(layer);
  json.end_array();
  json.key("answer");
  save_point(json, r, r.answer);
  json.key("options").begin_array();
  for (const std::string& word : option_words(r, options.lowered)) json.value(word);
  json.end_array();
  json.key("sensitivities").begin_object();
  for (size_t i = 0; i < r.sensitivities.size(); ++i)
    json.key(r.layers[i].name).value(std::sqrt(r.sensitivities[i]));
  json.end_object();
  json.key("points").begin_array();
  for (const PrecisionPoint& p : r.points) save_point(json, r, p);
  json.end_array().end_object();
  file.commit();
}

/// How accurate and how fast each of the last builds is, and what each layer costs.
void add_tables(const PrecisionResult& r, Report& report) {
  using Kind = ReportColumn::Kind;
  ReportTable points{
      .title = "Accuracy against time",
      .note = "Of the last builds; one that is best has none beside it that is as fast and as exact.",
      .columns = {{"layers in float32", Kind::kNumber},
                  {"time", Kind::kNumber, "ms"},
                  {"signal to noise", Kind::kNumber, "dB"},
                  {"largest error", Kind::kNumber},
                  {"best"},
                  {"answer"}},
      .shown = 60};
  for (const PrecisionPoint& p : r.points)
    points.rows.push_back({static_cast<int64_t>(p.held.size()), p.milliseconds, p.accuracy.decibels,
                           p.accuracy.absolute, std::string(p.is_best ? "yes" : ""),
                           std::string(p.held == r.answer.held ? "the answer" : "")});
  ReportTable layers{
      .title = "Layers",
      .note = "What lowering each adds to the error, in proportion to the goal: the most sensitive first.",
      .columns = {{"layer", Kind::kNode}, {"operator"}, {"adds", Kind::kNumber}, {"computed in"}}};
  ReportMetric& metric =
      report.metric("sensitivity", "error that lowering adds", "", ReportMetric::Combine::kMax);
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const bool is_held = std::find(r.answer.held.begin(), r.answer.held.end(), i) != r.answer.held.end();
    const ReportCell adds =
        r.sensitivities.empty() ? ReportCell() : ReportCell(std::sqrt(r.sensitivities[i]));
    layers.rows.push_back(
        {r.layers[i].name, r.layers[i].op_type, adds, std::string(is_held ? "float32" : "lowered")});
    if (!r.sensitivities.empty())
      metric.numbers.emplace_back(r.layers[i].name, std::sqrt(r.sensitivities[i]));
  }
  std::stable_sort(layers.rows.begin(), layers.rows.end(), [](const auto& a, const auto& b) {
    const double *x = std::get_if<double>(&a[2]), *y = std::get_if<double>(&b[2]);
    return x != nullptr && y != nullptr && *x > *y;
  });
  report.sections.emplace_back(std::move(points));
  report.sections.emplace_back(std::move(layers));
}

int run_search(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const DType lowered = read_lowered(args);
  EngineSearchSetup setup(context);
  const debug::PrecisionOptions options{.lowered = lowered,
                                        .goal = debug::AccuracyGoal::parse(*args.text("--accuracy"))};
  const PrecisionResult r = debug::search_precision(setup.search(), options, setup.observer());
  if (const auto path = args.text("--json")) save_json(r, options, setup.iterations().checks(), *path);
  if (ReportPage* page = context.report_page()) add_tables(r, page->report());
  log::info(
      "{} of {} layers that could be computed in {} stay in float32: {}{}{}{}\n{} check(s) were made.\nThis "
      "holds "
      "them: {}",
      r.answer.held.size(), r.layers.size(), dtype_name(lowered), r.answer.accuracy.str(),
      sensitivities_text(r), not_alone_text(r), points_text(r), setup.iterations().checks(),
      shell_line(option_words(r, lowered)));
  setup.end();
  return 0;
}

int run(CommandContext& context) {
  return context.args().has("--accuracy") ? run_search(context) : run_marker(context);
}

}  // namespace

constinit const Command def = {
    .name = "precision",
    .summary = "Find the layers that must run in a higher precision for an accuracy, or for a check to pass.",
    .description =
        "Given --accuracy, finds a small set of layers to hold in float32 so that all others may be "
        "computed in "
        "float16, bfloat16 or "
        "int8. Given a check, searches how many of the first, or last, layers must run in a higher "
        "precision. See "
        "docs/guide/debugging.md.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_precision
