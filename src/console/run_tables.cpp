#include "console/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/atomic_file.h"
#include "base/json_writer.h"

namespace assay {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// NaN among the elements is the worst of errors; that of rows without numbers is overwritten.
double worse(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNothing : std::max(a, b); }

std::string problem_of(const OutputComparison& c) {
  const OutputPair& pair = c.pair;
  switch (c.result.obstacle) {
    case Obstacle::kNone:
      break;
    case Obstacle::kShapes:
      return fmt::format("shapes {} and {}", pair.output0.shape().str(), pair.output1.shape().str());
    case Obstacle::kTypes:
      return fmt::format("types {} and {}", dtype_name(pair.output0.dtype()),
                         dtype_name(pair.output1.dtype()));
    case Obstacle::kMetric:
      return c.note;
  }
  if (c.different_strings > 0) return fmt::format("{} strings differ", c.different_strings);
  if (!c.result.passed && !c.mismatches.empty())
    return fmt::format("{} index(es) differ", c.mismatches.size());
  return c.result.passed && c.function != CompareFunction::kCustom ? "" : c.note;
}

/// The distance to what is tolerated grows with L2 and LPIPS, and shrinks with the others.
bool is_worse(CompareFunction function, double a, double b) {
  const bool grows = function == CompareFunction::kL2 || function == CompareFunction::kLpips;
  return std::isnan(a) || (grows ? a > b : a < b);
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_number(double number) { return std::isnan(number) ? "" : fmt::format("{}", number); }

void write_number(JsonWriter& json, const char* name, double number) {
  json.key(name);
  if (std::isnan(number))
    json.null();
  else
    json.value(number);
}

void write_shape(JsonWriter& json, const Shape& shape) {
  json.key("shape").begin_array();
  for (const int64_t extent : shape) json.value(extent);
  json.end_array();
}

void write_compared(JsonWriter& json, const ComparedRow& r) {
  json.begin_object();
  json.key("runner").value(r.runner0).key("other").value(r.runner1);
  json.key("output").value(r.output).key("function").value(r.function);
  json.key("dtype").value(dtype_name(r.dtype));
  write_shape(json, r.shape);
  json.key("passed").value(r.failed == 0);
  json.key("iterations").value(r.iterations).key("failed_iterations").value(r.failed);
  write_number(json, "max_error", r.error);
  write_number(json, "max_relative_error", r.relative);
  write_number(json, "mean_error", r.mean_error);
  write_number(json, "metric", r.metric);
  json.key("problem").value(r.problem);
  json.end_object();
}

void write_judged(JsonWriter& json, const JudgedRow& r) {
  const ArbiterVerdict& v = r.verdict;
  json.begin_object();
  json.key("runner").value(v.runner).key("output").value(v.output).key("node").value(v.node);
  json.key("operator").value(v.op_type).key("verdict").value(verdict_name(v.verdict));
  json.key("iteration").value(r.iteration);
  write_number(json, "max_error", v.max_error);
  write_number(json, "error_over_explained", v.worst_ratio);
  write_number(json, "share_of_final_error", r.share);
  json.key("pattern").value(v.pattern).key("problem").value(v.problem);
  json.end_object();
}

}  // namespace

int gravity(Verdict v) {
  switch (v) {
    case Verdict::kAgrees:
      return 0;
    case Verdict::kRounding:
      return 1;
    case Verdict::kOpen:
      return 2;
    case Verdict::kInherited:
      return 3;
    case Verdict::kNotJudged:
      return 4;
    case Verdict::kCannotTell:
      return 5;
    case Verdict::kUnclear:
      return 6;
    case Verdict::kWrong:
      return 7;
  }
  return 0;
}

std::vector<const ComparedRow*> RunTables::ranked(const std::string& runner0,
                                                  const std::string& runner1) const {
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& r : compared)
    if (r.runner0 == runner0 && r.runner1 == runner1) rows.push_back(&r);
  const auto size = [](const ComparedRow* r) {
    return std::isnan(r->error) ? std::numeric_limits<double>::infinity() : r->error;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const ComparedRow* a, const ComparedRow* b) {
    if ((a->failed > 0) != (b->failed > 0)) return a->failed > 0;
    return size(a) > size(b);
  });
  return rows;
}

void TableCollector::add(const OutputComparison& c, const std::string& label) {
  const OutputPair& pair = c.pair;
  const bool is_custom = c.function == CompareFunction::kCustom;
  const std::string function(is_custom ? (label.empty() ? "custom" : label)
                                       : compare_function_label(c.function));
  const auto [it, is_new] =
      compared_.try_emplace({pair.runner0, pair.runner1, pair.name0, function}, tables_.compared.size());
  if (is_new)
    tables_.compared.push_back({.runner0 = pair.runner0,
                                .runner1 = pair.runner1,
                                .output = pair.name0,
                                .function = function,
                                .dtype = pair.output0.dtype(),
                                .shape = pair.output0.shape(),
                                .error = kNothing,
                                .relative = kNothing,
                                .mean_error = kNothing,
                                .metric = kNothing});
  ComparedRow& row = tables_.compared[it->second];
  const bool is_first = row.iterations++ == 0;
  row.failed += !c.result.passed;
  if (const auto* m = std::get_if<SimpleMetrics>(&c.result.metrics)) {
    row.error = is_first ? m->max_absdiff : worse(row.error, m->max_absdiff);
    row.relative = is_first ? m->max_reldiff : worse(row.relative, m->max_reldiff);
    row.mean_error = is_first ? m->mean_absdiff : worse(row.mean_error, m->mean_absdiff);
  } else if (const auto* value = std::get_if<double>(&c.result.metrics)) {
    if (is_first || is_worse(c.function, *value, row.metric)) row.metric = *value;
  }
  if (const std::string problem = problem_of(c); row.problem.empty()) row.problem = problem;
}

void TableCollector::add(const Arbitration& found, int64_t iteration) {
  const Arbitration& a = found.traced != nullptr ? *found.traced : found;
  for (const ArbiterVerdict& v : a.outputs) {
    const auto [it, is_new] = judged_.try_emplace({v.runner, v.output, v.body}, tables_.judged.size());
    if (is_new) tables_.judged.push_back({.verdict = v, .iteration = iteration});
    JudgedRow& row = tables_.judged[it->second];
    if (gravity(v.verdict) > gravity(row.verdict.verdict)) row = {.verdict = v, .iteration = iteration};
    for (const ErrorShare& s : a.shares)
      if (s.runner == v.runner && s.output == v.output) row.share = std::max(row.share, s.share);
  }
}

void save_tables_csv(const RunTables& tables, const std::string& path) {
  AtomicFile file(path);
  file.write(
      "kind,runner,other,output,node,result,max_error,max_relative_error,metric,share_of_final_error\n");
  for (const ComparedRow& r : tables.compared)
    file.write(fmt::format("comparison,{},{},{},,{},{},{},{},\n", csv_cell(r.runner0), csv_cell(r.runner1),
                           csv_cell(r.output), r.failed > 0 ? "failed" : "passed", csv_number(r.error),
                           csv_number(r.relative), csv_number(r.metric)));
  for (const JudgedRow& r : tables.judged)
    file.write(fmt::format("verdict,{},reference,{},{},{},{},,,{}\n", csv_cell(r.verdict.runner),
                           csv_cell(r.verdict.output), csv_cell(r.verdict.node),
                           csv_cell(verdict_name(r.verdict.verdict)), csv_number(r.verdict.max_error),
                           csv_number(r.share)));
  file.commit();
}

void save_tables_json(const RunTables& tables, const RunReport& report, const std::string& command,
                      const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object();
  json.key("command").value(command).key("outcome").value(outcome_name(report.outcome));
  json.key("iterations").value(report.iterations);
  json.key("runners").begin_array();
  for (const RunnerReport& r : report.runners) {
    json.begin_object().key("name").value(r.name).key("loaded").value(r.loaded);
    json.key("iterations").value(r.iterations).key("seconds").value(r.seconds).end_object();
  }
  json.end_array().key("comparisons").begin_array();
  for (const ComparedRow& r : tables.compared) write_compared(json, r);
  json.end_array().key("verdicts").begin_array();
  for (const JudgedRow& r : tables.judged) write_judged(json, r);
  json.end_array().end_object();
  file.commit();
}

std::string_view outcome_name(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kPassed:
      return "passed";
    case RunOutcome::kFailed:
      return "failed";
    case RunOutcome::kUnclear:
      return "unclear";
  }
  return "";
}

}  // namespace assay
