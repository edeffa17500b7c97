#include "cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/options/report.h"

namespace assay::cli {
namespace {

constexpr std::string_view kMeasured[] = {"error", "relative-error", "mean-error", "metric"};

std::string pair_name(const ComparedRow& r) { return r.runner0 + " vs. " + r.runner1; }

std::string row_name(const ComparedRow& r) {
  return r.function == "simple" ? r.output : fmt::format("{} ({})", r.output, r.function);
}

Measured measured_of(const ComparedRow& r) {
  if (r.function == "simple")
    return {{"error", r.error}, {"relative-error", r.relative}, {"mean-error", r.mean_error}};
  return {{"metric", r.metric}};
}

std::string why_failed(const ComparedRow& r) {
  if (!r.problem.empty()) return r.problem;
  return r.function == "simple" ? fmt::format("the error {:.6g} exceeds the tolerances", r.error)
                                : fmt::format("{} is {:.6g}", r.function, r.metric);
}

/// The conditions decide if there are any, else the tolerances.
bool report_compared(TestReport& report, const ComparedRow& r) {
  TestResult result{.group = pair_name(r), .name = row_name(r)};
  const bool has_conditions = !report.thresholds().is_empty();
  const bool failed =
      has_conditions ? !report.check(result.group, result.name, measured_of(r)) : r.failed > 0;
  if (failed) {
    result.how = TestResult::How::kFailed;
    result.message = why_failed(r);
    if (has_conditions)
      for (const std::string& sentence : report.thresholds().reached(measured_of(r)))
        result.message = sentence;
  }
  report.add(std::move(result));
  return !failed;
}

void report_judged(TestReport& report, const JudgedRow& r) {
  const ArbiterVerdict& v = r.verdict;
  TestResult result{.group = v.runner, .name = v.output};
  if (v.verdict == Verdict::kWrong) {
    result.how = TestResult::How::kFailed;
    result.message = fmt::format("wrong by {:.6g}{}{}", v.max_error, v.node.empty() ? "" : ", node " + v.node,
                                 v.problem.empty() ? "" : ": " + v.problem);
  } else if (gravity(v.verdict) > gravity(Verdict::kInherited)) {
    result.how = TestResult::How::kSkipped;
    result.message = std::string(verdict_name(v.verdict)) + (v.note.empty() ? "" : ": " + v.note);
  }
  report.add(std::move(result));
}

}  // namespace

void add_run_report_options(ArgParser& parser) {
  OptionGroup& group = parser.add_group("Report");
  group.options = {
      {.names = {"--all"},
       .help = "Show every output in the tables, not only the 20 with the largest errors. -v shows how "
               "each was compared.",
       .arity = Arity::kNone},
      {.names = {"--csv"},
       .help = "Write the tables (an output of two runners, or the verdict on one, in each line) as CSV.",
       .metavar = "FILE"},
      {.names = {"--json"}, .help = "Write the same as JSON.", .metavar = "FILE"}};
  for (Option& o : report_options(kMeasured)) group.options.push_back(std::move(o));
}

void refuse_run_reports(const ParsedArgs& args) {
  for (const char* option : {"--all", "--csv", "--json", "--junit", "--fail-if", "--shard"})
    if (args.has(option))
      log::critical(ErrorCode::kInvalidArgument,
                    "{} has no effect: a program is written, and nothing is run. Leave one of the two out.",
                    option);
}

void check_conditions(const ParsedArgs& args) { TestReport(args, "", kMeasured); }

namespace {

/// The outcome of the run if tolerances did not count.
RunOutcome outcome_without_tolerances(const RunReport& report, const RunOptions& options) {
  if (report.outcome != RunOutcome::kFailed) return report.outcome;
  const bool lacks_iterations = report.iterations == 0 || (report.different_lengths && !options.partial);
  const VerdictCounts& v = report.verdicts;
  if (lacks_iterations || !report.invalid.empty() || v.count(Verdict::kWrong) > 0) return RunOutcome::kFailed;
  const bool is_open =
      v.count(Verdict::kUnclear) + v.count(Verdict::kCannotTell) + v.count(Verdict::kNotJudged) > 0;
  return is_open ? RunOutcome::kUnclear : RunOutcome::kPassed;
}

}  // namespace

RunOutcome write_run_reports(const ParsedArgs& args, const RunOptions& options, const RunTables& tables,
                             const RunReport& run, const std::string& command) {
  TestReport report(args, "assay run", kMeasured);
  RunReport result = run;
  if (!report.thresholds().is_empty() && tables.compared.empty())
    log::critical(ErrorCode::kInvalidArgument, "--fail-if: nothing was compared, so nothing was measured.");
  bool passed = true;
  for (const ComparedRow& r : tables.compared) passed = report_compared(report, r) && passed;
  for (const JudgedRow& r : tables.judged) report_judged(report, r);
  if (!report.thresholds().is_empty())
    result.outcome = passed ? outcome_without_tolerances(run, options) : RunOutcome::kFailed;
  report.save();
  if (const auto path = args.text("--csv")) {
    log::info("Saving the tables to {}", *path);
    save_tables_csv(tables, *path);
  }
  if (const auto path = args.text("--json")) {
    log::info("Saving the tables to {}", *path);
    save_tables_json(tables, result, command, *path);
  }
  return result.outcome;
}

void suggest_next(const ParsedArgs& args, const RunOptions& options, const RunReport& report,
                  const RunTables& tables) {
  const bool differs = std::any_of(tables.compared.begin(), tables.compared.end(),
                                   [](const ComparedRow& r) { return r.failed > 0; });
  if (!differs || report.outcome == RunOutcome::kPassed || options.arbitrate) return;
  if (options.model.path.empty()) {
    log::info("Next: with the model and --arbiter, it says whether rounding explains the difference.");
    return;
  }
  log::info(
      "Next: --arbiter says whether rounding explains the difference, and if not, who is wrong, and where.");
  if (!args.has("--onnx-outputs")) log::info("Next: --onnx-outputs '*' compares every layer.");
}

}  // namespace assay::cli
