// assay check conformance: runs ONNX's backend test cases.
#include <fmt/format.h>

#include <algorithm>

#include "base/cpus.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "cli/command.h"
#include "cli/options/logging.h"
#include "cli/options/report.h"
#include "cli/registries.h"
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
  log::info("Running {} cases on {} targets", cases.size(), targets.size());
  const bool all_targets = !args.has("--on");
  const std::vector<ConformanceOutcome> outcomes = run_conformance_suite(cases, targets, options);
  const ConformanceReport report = conformance_report(outcomes, expectations, all_targets);
  print(report);
  save_junit_report(args, outcomes, expectations);
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
