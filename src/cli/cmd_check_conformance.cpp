// assay check conformance: runs ONNX's backend test cases.
#include <fmt/format.h>

#include <algorithm>

#include "assay/version.h"
#include "base/atomic_file.h"
#include "base/cpus.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "cli/command.h"
#include "cli/conformance_counts.h"
#include "cli/merging.h"
#include "cli/options/logging.h"
#include "cli/options/report.h"
#include "cli/registries.h"
#include "cli/shards.h"
#include "cli/values.h"
#include "run/conformance_report.h"

namespace assay::cli::command_check_conformance {
namespace {

/// The default targets.
std::vector<std::string> default_targets(std::span<const ConformanceTarget> targets) {
  std::vector<std::string> names;
  for (const ConformanceTarget& t : targets)
    if (t.is_default) names.push_back(t.name);
  return names;
}

std::string target_help(std::span<const ConformanceTarget> targets) {
  std::string text = "What to judge the cases on";
  for (const ConformanceTarget& t : targets)
    text += fmt::format("{} {} ({})", &t == targets.data() ? ":" : ",", t.name, t.summary);
  return text + fmt::format(". Default: {}.", fmt::join(default_targets(targets), ", "));
}

void add_conformance_options(ArgParser& parser, const Registries& registries) {
  add_logging_options(parser);
  const std::vector<ConformanceTarget> targets = conformance_targets(registries.backends);
  std::vector<std::string> names;
  for (const ConformanceTarget& t : targets) names.emplace_back(t.name);
  parser.add_group("Conformance").options = {
      {.names = {"folders"},
       .help = "Folders with cases: model.onnx and test_data_set_N/{input,output}_M.pb, at any depth.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FOLDER"},
      {.names = {"--on"},
       .help = target_help(targets),
       .arity = Arity::kAtLeastOne,
       .metavar = "TARGET",
       .choices = names},
      {.names = {"--expected"},
       .help = "A file of cases that are known to fail, each line `TARGET CASE: REASON` with patterns for "
               "target and "
               "case. They count as skipped; one that passes is an error.",
       .metavar = "FILE"},
      {.names = {"--jobs"},
       .help = "Processes at a time. Default: one for each CPU.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--timeout"},
       .help = "Seconds that one case may take on one target. Default: 120.",
       .metavar = "SECONDS",
       .kind = ValueKind::kNumber},
  };
  parser.add_group("Shards").options = {
      shard_option("Run every N-th case. --counts names the file of the part, for `assay merge`."),
      {.names = {"--counts"},
       .help = "Write how many cases passed, failed and were skipped (JSON).",
       .metavar = "FILE"}};
  parser.add_group("Report").options = report_options({});
}

std::vector<const ConformanceTarget*> chosen_targets(const ParsedArgs& args,
                                                     std::span<const ConformanceTarget> all) {
  const std::vector<std::string> names = args.list("--on").value_or(default_targets(all));
  std::vector<const ConformanceTarget*> targets;
  for (const ConformanceTarget& t : all)
    if (std::find(names.begin(), names.end(), t.name) != names.end()) targets.push_back(&t);
  return targets;
}

ConformanceExpectations read_expectations(const ParsedArgs& args) {
  const auto path = args.text("--expected");
  if (!path) return {};
  return {MappedFile::open(*path)->bytes(), *path};
}

void print(const ConformanceReport& report) {
  for (const std::string& line : report.problems) log::error("{}", line);
  log::info("{}", report.table);
  for (const auto& [key, count] : report.reasons)
    log::info("Skipped: {} on {}: {}", count, key.first, key.second);
  const std::string summary =
      fmt::format("{} passed, {} failed, {} skipped", report.passed, report.failed, report.skipped);
  if (report.is_good())
    log::finish("PASSED | {}", summary);
  else
    log::error("FAILED | {}, {} problem(s)", summary, report.problems.size());
}

void save_junit_report(const ParsedArgs& args, std::span<const ConformanceOutcome> outcomes,
                       const ConformanceExpectations& expectations) {
  TestReport report(args, "assay check conformance", {});
  for (const ConformanceOutcome& o : outcomes) {
    TestResult result{.group = o.target->name, .name = o.test->name, .message = o.result.reason};
    const auto* expected = expectations.find(o.target->name, o.test->name);
    const bool passed = o.result.verdict == ConformanceResult::Verdict::kPassed;
    if (!passed && expected != nullptr) {
      result.how = TestResult::How::kSkipped;
      result.message = expected->reason;
    } else if (passed == (expected != nullptr)) {
      result.how = TestResult::How::kFailed;
      if (passed) result.message = "it passes, but was expected to fail: " + expected->reason;
    }
    report.add(std::move(result));
  }
  report.save();
}

/// The identity shared by all shards: the cases by name, and the targets.
eval::PartOf conformance_part(const CommandContext& context, std::span<const ConformanceCase> cases,
                              std::span<const ConformanceTarget* const> targets) {
  constexpr std::string_view kNeutral[] = {"folders", "--on", "--jobs", "--counts", "--expected"};
  HashStream hash;
  for (const ConformanceCase& test : cases) hash.add(test.name + "\n");
  std::string names;
  for (const ConformanceTarget* target : targets) names += (names.empty() ? "" : " ") + target->name;
  eval::Entries options = deciding_options(context, kNeutral);
  options.emplace_back("on", names);
  return {.kind = "conformance",
          .identity = {.version = kVersion,
                       .model_name = "cases",
                       .model_digest = "none",
                       .data = {{"kind", "cases"}, {"names", fmt::format("xxh3:{:016x}", hash.value())}},
                       .options = std::move(options)},
          .samples = static_cast<int64_t>(cases.size()),
          .covered = eval::Ranges(0, static_cast<int64_t>(cases.size()))};
}

void keep_own_cases(const eval::Shard& shard, std::vector<ConformanceCase>& cases, eval::PartOf& part) {
  std::vector<ConformanceCase> own;
  part.covered = {};
  for (int64_t i = shard.index; i < static_cast<int64_t>(cases.size()); i += shard.count) {
    own.push_back(std::move(cases[static_cast<size_t>(i)]));
    part.covered.add(i, i + 1);
  }
  cases = std::move(own);
}

/// As a part of a shard's, else as merged ones are.
void save_counts(const ParsedArgs& args, const ShardChoice& choice, const eval::PartOf& part,
                 const ConformanceCounts& counts) {
  const auto path = args.text("--counts");
  if (!path) return;
  if (choice.shard) {
    save_part(part_json(part, [&](JsonWriter& json) { counts.write(json); }), *path, choice);
    return merge_automatic_parts(*path, choice);
  }
  AtomicFile file(*path);
  JsonWriter json(file);
  json.begin_object();
  counts.write(json);
  json.end_object();
  file.write("\n");
  file.commit();
}

int run_conformance(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ConformanceExpectations expectations = read_expectations(args);
  const ConformanceSuiteOptions options = {
      .workers =
          static_cast<int>(require_at_least("--jobs", args.integer("--jobs").value_or(available_cpus()), 1)),
      .timeout_seconds = args.number("--timeout").value_or(120)};
  const std::vector<ConformanceTarget> known = conformance_targets(context.registries().backends);
  const std::vector<const ConformanceTarget*> targets = chosen_targets(args, known);
  const std::vector<std::string> folders = args.list("folders").value();
  std::vector<ConformanceCase> cases;
  for (const std::string& folder : folders)
    for (ConformanceCase& test : find_conformance_cases(folder)) cases.push_back(std::move(test));
  const ShardChoice choice = read_shard(args, /*asks_mpi=*/false);
  eval::PartOf part = conformance_part(context, cases, targets);
  if (choice.shard) keep_own_cases(*choice.shard, cases, part);
  log::info("Running {} cases on {} targets", cases.size(), targets.size());
  const bool all_targets = !args.has("--on") && !choice.shard;
  const std::vector<ConformanceOutcome> outcomes = run_conformance_suite(cases, targets, options);
  const ConformanceReport report = conformance_report(outcomes, expectations, all_targets);
  print(report);
  save_junit_report(args, outcomes, expectations);
  save_counts(args, choice, part, ConformanceCounts(outcomes, report));
  return report.is_good() ? 0 : 1;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "conformance",
    .summary = "Run test cases in the format of ONNX's backend tests.",
    .description =
        "Runs test cases in the format of ONNX's backend tests on the reference and the engine, and checks "
        "inferred "
        "shapes against computed ones. Prints one table of what passed, failed and was skipped, by opset and "
        "by "
        "operator.",
    .add_options = add_conformance_options,
    .run = run_conformance,
    .traces = true,
};

}  // namespace assay::cli::command_check_conformance
