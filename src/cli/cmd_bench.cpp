// assay bench: measures the speed of a model. Under the name trtexec it is the whole program.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/log.h"
#include "bench/bench.h"
#include "bench/exports.h"
#include "cli/bench_options.h"
#include "cli/bench_text.h"
#include "cli/command.h"
#include "cli/merging.h"
#include "cli/option_effects.h"
#include "cli/option_paths.h"
#include "cli/options/logging.h"
#include "cli/options/report.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "cli/route_tuning.h"
#include "cli/shards.h"

namespace assay::cli::command_bench {
namespace {

/// The options as a run of the benchmark.
bench::Options read_options(const CommandContext& context, const ParsedArgs& args) {
  bench::Options options = read_bench_options(args, is_trtexec(context.invocation()));
  options.backend_set = &context.registries().backends;
  context.registries().give_to(options.session);
  return options;
}

/// Refuses options that cannot be combined with a tuning of build routes.
void check_tuned(const bench::Options& options) {
  require(options.plan.empty(), ErrorCode::kInvalidArgument,
          "{} is a plan, which is built already: build routes are tried on an ONNX model", options.plan);
  require(!options.skips_inference, ErrorCode::kInvalidArgument,
          "build routes are compared by their times, which --skipInference leaves out");
  require(options.backends == std::vector<std::string>{"engine"}, ErrorCode::kInvalidArgument,
          "build routes are those of the engine: --backends cannot name others");
}

int tune(CommandContext& context, const ParsedArgs& args, const RouteTuning& tuning,
         const RouteKnobs& knobs) {
  bench::Options options = read_options(context, args);
  check_tuned(options);
  check_option_paths(args, check_bench_effects(args, options));
  const std::string best_plan = std::exchange(options.save_plan, "");
  std::shared_ptr<Engine> last;
  const auto measure = [&](const BuildRoute& route, size_t number) {
    bench::Options one = options;
    apply_route(route, one.build);
    if (tuning.saves_all) one.save_plan = fmt::format("{}.iter{}", best_plan, number);
    BenchText text;
    const bench::Result result = bench::run_bench(one, context.invocation().command_line, text);
    last = result.backends.front().engine;
    double milliseconds = 0;
    for (const bench::Row& row : result.rows) milliseconds += row.latency.median;
    return milliseconds;
  };
  const auto keep = [&](size_t number) {
    if (best_plan.empty()) return;
    log::info("Saving the engine of route {} to {}", number, best_plan);
    last->save(best_plan);
  };
  context.announce();
  tune_routes(tuning, knobs, words_of(args), measure, keep);
  return 0;
}

/// Resumes a tuning from a cache that records its command line.
int resume(CommandContext& context, const RouteTuning& given, const RouteKnobs& knobs) {
  for (const Option* option : context.args().given())
    require(option->names.front() == "--continue" || option->names.front() == "--tuning-cache-file",
            ErrorCode::kInvalidArgument, "--continue takes everything from {}; {} cannot be given with it",
            given.cache, option->label());
  ArgParser parser(context.invocation().program, "");
  add_bench_options(parser, is_trtexec(context.invocation()));
  add_logging_options(parser);
  const std::vector<std::string> words = words_of_tuning_cache(given.cache);
  const ParsedArgs args = parser.parse(words);
  require(args.unrecognized().empty(), ErrorCode::kInvalidArgument,
          "{}: the command that it was begun with has the option {}, which {} does not", given.cache,
          args.unrecognized().empty() ? "" : args.unrecognized().front(), context.invocation().program);
  RouteTuning tuning = read_route_tuning(args);
  require(tuning.tunes(), ErrorCode::kInvalidArgument,
          "{} is not the cache of a tuning: its command tries no routes", given.cache);
  tuning.cache = given.cache;
  tuning.continues = true;
  return tune(context, args, tuning, knobs);
}

constexpr std::string_view kMeasured[] = {"median", "mean",  "min",        "max",   "throughput",
                                          "first",  "ratio", "difference", "memory"};

/// True when what was asked for is among the lines.
bool asks_for_lines(const bench::Options& o) {
  return o.dumps_output || o.dumps_layers || o.dumps_weights || o.dumps_profiles || o.dumps_roofline ||
         o.explains || o.is_verbose || o.times_refit || o.skips_inference;
}

/// Writes the test results. False when a condition is reached.
bool hold_against_conditions(const ParsedArgs& args, const bench::Result& result) {
  if (!args.declares("--fail-if")) return true;  // under the name trtexec
  TestReport report(args, "assay bench", kMeasured);
  bool passed = true;
  for (const bench::Row& row : result.rows) {
    const Measured measured = {{"median", row.latency.median},
                               {"mean", row.latency.mean},
                               {"min", row.latency.min},
                               {"max", row.latency.max},
                               {"throughput", row.throughput},
                               {"first", row.first_ms},
                               {"ratio", row.ratio},
                               {"difference", row.difference},
                               {"memory", static_cast<double>(row.peak_bytes) / (1 << 20)}};
    TestResult test{.group = row.backend, .name = row.shapes, .seconds = row.wall_seconds};
    if (!report.check(row.backend, row.shapes, measured)) {
      passed = false;
      test.how = TestResult::How::kFailed;
      for (const std::string& sentence : report.thresholds().reached(measured)) test.message = sentence;
    }
    report.add(std::move(test));
  }
  report.save();
  return passed;
}

/// The measurements, and what ran when.
void fill(ReportPage& page, const bench::Result& result) {
  const auto add = [&](SavedKind kind, const auto& write) {
    std::string text;
    JsonWriter json([&](std::string_view piece) { text += piece; });
    write(json);
    page.add(kind, text);
  };
  add(SavedKind::kBench, [&](JsonWriter& json) { bench::write_result(json, result); });
  if (result.rows.empty() || result.profiles.empty() || result.rows.front().runs.empty()) return;
  const bench::Row& row = result.rows.front();
  add(SavedKind::kTrace, [&](JsonWriter& json) {
    bench::write_timeline(json, row, result.profiles.front(), row.runs.front().start);
  });
  page.report().status = fmt::format("Median {:.4g} ms.", row.latency.median);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const RouteKnobs knobs(*context.registries().tactics, *context.registries().passes);
  const RouteTuning tuning = read_route_tuning(args);
  if (tuning.shows_knobs) {
    log::print(knobs.json("--helpBuildRoute", tuning.shown_knob));
    return 0;
  }
  if (tuning.continues) return resume(context, tuning, knobs);
  if (tuning.dry) {
    size_t number = 0;
    for (const BuildRoute& route :
         expand_routes(knobs.parse("--tuneBuildRoutes", tuning.expression), tuning.search))
      log::print(fmt::format("[{}] {}\n", number++, route_text(route)));
    return 0;
  }
  if (tuning.tunes()) return tune(context, args, tuning, knobs);
  bench::Options options = read_options(context, args);
  apply_set_route(args, knobs, options.build);
  check_option_paths(args, check_bench_effects(args, options));
  const ShardChoice shard = read_shard(args, /*asks_mpi=*/false);
  const std::string json = options.json;
  if (shard.shard && json.empty())
    log::critical(ErrorCode::kInvalidArgument,
                  "The result of a shard is lost unless --json names a file for it.");
  options.json = shard.path_of(json);
  context.announce();
  ReportPage* page = context.report_page();
  options.keeps_profile = page != nullptr;
  const bool is_brief = !args.is_upstream() && !log::enabled(log::Severity::kVerbose);
  BenchText text(is_brief && !asks_for_lines(options) ? BenchText::Lines::kVerbose
                                                      : BenchText::Lines::kShown);
  const bench::Result result = bench::run_bench(options, context.invocation().command_line, text);
  if (page != nullptr) fill(*page, result);
  if (is_brief) print_bench_summary(options, result);
  merge_automatic_parts(json, shard);
  return hold_against_conditions(args, result) ? 0 : 1;
}

void add_options(ArgParser& parser) {
  add_bench_options(parser, /*as_trtexec=*/false);
  parser.add_group("Shards").options = {shard_option(
      "Measure as one machine of several: nothing is cut. `assay merge` makes one table of the files "
      "of --json.")};
  parser.add_group("Conditions").options = report_options(kMeasured);
  add_logging_options(parser);
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "bench",
    .summary = "Measure how fast a model runs.",
    .description =
        "Builds an engine from an ONNX model or loads the plan of one, runs it on random inputs and tells "
        "throughput, "
        "latency and the time of each layer, in the words of TensorRT's trtexec, whose options it takes, "
        "too. Several "
        "backends and several shapes are measured in one go, in turns, so that they share what happens on "
        "the machine.",
    .add_options = add_options,
    .run = run,
    .checks_paths = true,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_bench
