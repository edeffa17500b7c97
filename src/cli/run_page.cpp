#include "cli/run_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "arbiter/verdict_json.h"

namespace assay::cli {
namespace {

using CellKind = ReportColumn::Kind;

ReportTable runner_table(const RunReport& result) {
  ReportTable table{
      .title = "Runners",
      .columns = {{"runner"}, {"iterations", CellKind::kNumber}, {"time", CellKind::kNumber, "s"}, {"from"}}};
  for (const RunnerReport& r : result.runners)
    table.rows.push_back({r.name, r.iterations, r.seconds, std::string(r.loaded ? "a file" : "this run")});
  return table;
}

struct Cells {
  ReportCell first, second;
};
Cells cells_of(const Metrics& metrics) {
  if (const auto* simple = std::get_if<SimpleMetrics>(&metrics))
    return {simple->max_absdiff, simple->max_reldiff};
  if (const auto* number = std::get_if<double>(&metrics)) return {*number, {}};
  return {};
}

ReportTable pair_table(const PairSummary& pair) {
  ReportTable table{
      .title = fmt::format("{} and {}", pair.runner0, pair.runner1),
      .note = fmt::format("{} of {} iterations agree.", pair.passed_iterations, pair.iterations),
      .columns = {{"output", CellKind::kNode},
                  {"function"},
                  {"agree", CellKind::kNumber},
                  {"iterations", CellKind::kNumber},
                  {"error or metric", CellKind::kNumber},
                  {"relative error", CellKind::kNumber}}};
  for (const FunctionSummary& f : pair.functions)
    for (const OutputSummary& o : f.outputs) {
      const Cells m = cells_of(o.mean);
      table.rows.push_back({o.output, f.label, o.passed, o.iterations, m.first, m.second});
    }
  // Those that fail first.
  std::stable_partition(table.rows.begin(), table.rows.end(), [](const auto& row) {
    return std::get<int64_t>(row[2]) < std::get<int64_t>(row[3]);
  });
  return table;
}

}  // namespace

void PageSummary::on_verdict(const Arbitration& verdict, const ArbiterOptions& options, int64_t iteration) {
  RunSummary::on_verdict(verdict, options, iteration);
  if (!verdicts_.empty()) verdicts_ += ",";
  JsonWriter json([&](std::string_view piece) { verdicts_ += piece; });
  write_verdict(json, verdict);
}

void PageSummary::fill(ReportPage& page, const RunReport& result) const {
  Report& report = page.report();
  if (!verdicts_.empty()) page.add(SavedKind::kVerdict, "{\"iterations\":[" + verdicts_ + "]}");
  switch (result.outcome) {
    case RunOutcome::kPassed:
      report.status = "Passed.";
      break;
    case RunOutcome::kFailed:
      report.status = "Failed: outputs differ, are invalid or are wrong.";
      break;
    case RunOutcome::kUnclear:
      report.status = "Unclear: nothing is wrong, but a verdict is undecided or was not made.";
      break;
  }
  report.is_good = result.outcome == RunOutcome::kPassed;
  if (!result.verdicts.first_maker.empty())
    report.summary.emplace_back("first error", result.verdicts.first_maker);
  for (const PairSummary& pair : result.pairs) {
    ReportMetric& metric =
        report.metric("difference", "difference between runners", "", ReportMetric::Combine::kMax);
    for (const FunctionSummary& f : pair.functions)
      for (const OutputSummary& o : f.outputs)
        if (const auto* simple = std::get_if<SimpleMetrics>(&o.mean))
          metric.numbers.emplace_back(o.output, simple->max_absdiff);
    report.sections.emplace_back(pair_table(pair));
  }
  report.sections.emplace_back(runner_table(result));
}

}  // namespace assay::cli
