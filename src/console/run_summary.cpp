#include "console/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "console/text_table.h"

namespace assay {
namespace {

using log::Severity;

/// Rows of all tables together, and of one at least.
constexpr size_t kRows = 20, kFewestRows = 5;
/// Tensors that are listed.
constexpr size_t kTensors = 4;

std::string tensors_text(const std::vector<SeenTensor>& tensors) {
  std::string text;
  for (size_t i = 0; i < std::min(tensors.size(), kTensors); ++i)
    text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", tensors[i].name, dtype_name(tensors[i].dtype),
                        tensors[i].shape.str());
  if (tensors.size() > kTensors) text += fmt::format(", and {} more", tensors.size() - kTensors);
  return text;
}

std::string number_text(double number) { return std::isnan(number) ? "-" : fmt::format("{:.4g}", number); }

std::string result_text(const ComparedRow& r) {
  std::string text = r.failed == 0 ? "passed" : "FAILED";
  if (r.failed > 0 && r.iterations > 1) text += fmt::format(" {}/{}", r.failed, r.iterations);
  return r.problem.empty() ? text : text + ": " + r.problem;
}

/// The error for `simple`, the function's own number for others.
std::string measure_text(const ComparedRow& r) {
  return number_text(std::isnan(r.metric) ? r.error : r.metric);
}

std::string table_text(std::span<const ComparedRow* const> rows, int indentation) {
  const bool names_function = std::any_of(rows.begin(), rows.end(), [&](const ComparedRow* r) {
    return r->function != rows.front()->function || r->function != "simple";
  });
  std::vector<TextTable::Column> columns = {
      {"Output"}, {names_function ? "Value" : "Max error", true}, {"Relative", true}, {"Type"}, {"Shape"},
      {"Result"}};
  if (names_function) columns.insert(columns.begin() + 1, {"Function"});
  TextTable table(columns);
  for (const ComparedRow* r : rows) {
    std::vector<std::string> cells = {
        r->output,      measure_text(*r), number_text(r->relative), std::string(dtype_name(r->dtype)),
        r->shape.str(), result_text(*r)};
    if (names_function) cells.insert(cells.begin() + 1, r->function);
    table.add(std::move(cells));
  }
  return table.str(table_columns(indentation));
}

/// The names without number and time, where that leaves them different: "engine-runner".
std::map<std::string, std::string> short_names(const std::vector<RunnerReport>& runners) {
  std::map<std::string, int> uses;
  std::map<std::string, std::string> names;
  const auto shortened = [](const std::string& name) {
    const size_t number = name.rfind("-N");
    const size_t end =
        number == std::string::npos ? number : name.find_first_not_of("0123456789", number + 2);
    const bool is_made = end != std::string::npos && end > number + 2 && name[end] == '-' &&
                         name.find_first_not_of("0123456789/:-", end) == std::string::npos;
    return is_made ? name.substr(0, number) : name;
  };
  for (const RunnerReport& r : runners) ++uses[shortened(r.name)];
  for (const RunnerReport& r : runners) {
    const std::string brief = shortened(r.name);
    names[r.name] = uses[brief] == 1 ? brief : r.name;
  }
  return names;
}

std::string short_name(const std::map<std::string, std::string>& names, const std::string& name) {
  const auto it = names.find(name);
  return it == names.end() ? name : it->second;
}

std::string pair_key(const std::string& a, const std::string& b) { return a + "\n" + b; }

}  // namespace

// ---- events

void RunSummary::on_runner_begin(const std::string& runner) {
  begun_ = runner;
  if (options_.details) TextRenderer::on_runner_begin(runner);
}

void RunSummary::on_warm_up(const std::string& runner, int64_t runs, bool done, bool has_data) {
  if (options_.details || !has_data) TextRenderer::on_warm_up(runner, runs, done, has_data);
}

void RunSummary::on_inputs(const InputsEvent& e) {
  if (options_.details) return TextRenderer::on_inputs(e);
  running_ = begun_;
  if (inputs_.empty()) inputs_ = tensors_text(e.inputs);
}

void RunSummary::on_outputs(const OutputsEvent& e) {
  if (options_.details) return TextRenderer::on_outputs(e);
  running_.clear();
  std::string& text = outputs_[e.runner];
  if (text.empty()) text = tensors_text(e.outputs);
}

void RunSummary::on_runner_end(const RunnerReport& runner) {
  running_.clear();
  if (options_.details) TextRenderer::on_runner_end(runner);
}

void RunSummary::on_postprocess(const std::string& function, bool done) {
  if (options_.details) TextRenderer::on_postprocess(function, done);
}

void RunSummary::on_validation_begin(const std::vector<std::string>& runners) {
  if (options_.details) TextRenderer::on_validation_begin(runners);
}

void RunSummary::on_validation_end(bool valid) {
  if (options_.details || !valid) TextRenderer::on_validation_end(valid);
}

void RunSummary::on_validated(const ValidationResult& result, const Tensor& output,
                              const ValidateOptions& options, int64_t iteration) {
  ++validated_;
  const bool is_told = !result.valid() && ++invalid_ <= static_cast<int64_t>(kFewestRows);
  if (options_.details || is_told) TextRenderer::on_validated(result, output, options, iteration);
}

void RunSummary::on_summary(const PairSummary& pair, Aggregation aggregation, const std::string& notes) {
  if (options_.details) return TextRenderer::on_summary(pair, aggregation, notes);
  notes_[pair_key(pair.runner0, pair.runner1)] = notes;
}

void RunSummary::on_verdict(const Arbitration& verdict, const ArbiterOptions& options, int64_t iteration) {
  collector_.add(verdict, iteration);
  if (options_.details) return TextRenderer::on_verdict(verdict, options, iteration);
  const bool is_wrong = verdict.any(Verdict::kWrong);
  if (!judged_ || (is_wrong && !judged_->is_wrong)) judged_.emplace(verdict, options, iteration, is_wrong);
}

void RunSummary::on_verdicts(const VerdictCounts& verdicts) {
  if (options_.details) return TextRenderer::on_verdicts(verdicts);
  counts_ = verdicts;
}

void RunSummary::on_shapes_unchecked() {
  if (options_.details) TextRenderer::on_shapes_unchecked();
}

void RunSummary::on_match(const OutputMatch& match) { TextRenderer::on_match(match); }

void RunSummary::on_output_begin(std::string_view label, const OutputPair& pair) {
  label_ = label;
  if (options_.details) TextRenderer::on_output_begin(label, pair);
}

void RunSummary::on_output_end(const OutputComparison& comparison) {
  collector_.add(comparison, label_);
  if (options_.details)
    TextRenderer::on_output_end(comparison);
  else
    comparison_.draw(comparison);
}

void RunSummary::on_function_end(const FunctionResult& result) {
  if (options_.details) TextRenderer::on_function_end(result);
}

void RunSummary::on_outputs_compared(const OutputPairEnd& end) {
  if (options_.details) TextRenderer::on_outputs_compared(end);
}

void RunSummary::on_pair(const std::string& runner0, const std::string& runner1) {
  if (options_.details) TextRenderer::on_pair(runner0, runner1);
}

void RunSummary::on_iteration(int64_t index) {
  if (options_.details) TextRenderer::on_iteration(index);
}

// ---- the summary

void RunSummary::print_runners(const RunReport& report) const {
  if (!inputs_.empty()) log::info("Inputs: {}", inputs_);
  const auto names = short_names(report.runners);
  TextTable table({{"Runner"}, {"Iterations", true}, {"Average", true}, {"Outputs"}});
  for (const RunnerReport& r : report.runners) {
    const auto outputs = outputs_.find(r.name);
    const double ms = r.seconds * 1000 / static_cast<double>(std::max<int64_t>(r.iterations, 1));
    table.add({short_name(names, r.name) + (r.note.empty() ? "" : " (" + r.note + ")"),
               std::to_string(r.iterations), r.loaded ? "loaded" : fmt::format("{:.4g} ms", ms),
               outputs == outputs_.end() ? "" : outputs->second});
  }
  if (!table.is_empty()) log::info("{}", table.str(table_columns(log::Indent::levels())));
  if (validated_ > 0) log::info("Validated {} output(s): {} with NaN or infinity", validated_, invalid_);
}

void RunSummary::print_pair(const PairSummary& pair, const RunReport& report, size_t most) const {
  const auto notes = notes_.find(pair_key(pair.runner0, pair.runner1));
  PairSummary named = pair;
  const auto names = short_names(report.runners);
  named.runner0 = short_name(names, pair.runner0);
  named.runner1 = short_name(names, pair.runner1);
  print_summary(named, report.aggregation, notes == notes_.end() ? "" : notes->second, Passing::kLeftOut);
  std::vector<const ComparedRow*> rows = tables().ranked(pair.runner0, pair.runner1);
  if (rows.empty()) return;
  const size_t shown = options_.all_outputs ? rows.size() : std::min(rows.size(), most);
  const log::Indent indent;
  const bool failed = rows.front()->failed > 0;
  log::message(failed ? Severity::kError : Severity::kInfo, "{}",
               table_text(std::span(rows).first(shown), log::Indent::levels()));
  if (shown == rows.size()) return;
  const auto rest = std::span(rows).subspan(shown);
  const auto failures = std::count_if(rest.begin(), rest.end(), [](const auto* r) { return r->failed > 0; });
  log::info("{} more output(s), of which {} failed; none of those has a larger error", rest.size(), failures);
}

void RunSummary::print_verdicts() const {
  if (!judged_) return;
  const Arbitration& verdict = judged_->verdict;
  const VerdictLength length = options_.all_outputs ? VerdictLength::kAll : VerdictLength::kScreen;
  if (counts_ && counts_->iterations > 1) log::info("Iteration: {}", judged_->iteration);
  print_verdict(verdict, judged_->options, length);
  if (verdict.traced != nullptr) {
    log::info("With every layer marked{}:",
              verdict.traced->any_in_body() ? ", in the bodies of nodes, too" : "");
    print_verdict(*verdict.traced, judged_->options, length);
  }
}

void RunSummary::finish(const RunReport& report) const {
  if (options_.details) return;
  if (report.outcome == RunOutcome::kFailed)
    if (const std::string why = failure_sentence(report, tables()); !why.empty()) log::error("{}", why);
  print_runners(report);
  const size_t most = std::max(kFewestRows, kRows / std::max<size_t>(report.pairs.size(), 1));
  for (const PairSummary& pair : report.pairs) print_pair(pair, report, most);
  print_verdicts();
  if (counts_) TextRenderer::print_verdict_counts(*counts_);
}

void RunSummary::finish_after_error() const {
  if (options_.details) return;
  print_verdicts();
  if (counts_) TextRenderer::print_verdict_counts(*counts_);
}

std::string failure_sentence(const RunReport& report, const RunTables& tables) {
  if (report.verdicts.wrong_iterations > 0) return fmt::format("Wrong: {}", report.verdicts.first_maker);
  if (!report.invalid.empty())
    return fmt::format("Invalid: output '{}' of {} holds {}", report.invalid.front().output,
                       report.invalid.front().runner, report.invalid.front().has_nan ? "NaN" : "infinity");
  for (const PairSummary& pair : report.pairs) {
    const std::vector<const ComparedRow*> rows = tables.ranked(pair.runner0, pair.runner1);
    const auto failed = std::count_if(rows.begin(), rows.end(), [](const auto* r) { return r->failed > 0; });
    if (failed == 0) continue;
    const ComparedRow& worst = *rows.front();
    const std::string by = !worst.problem.empty()    ? worst.problem
                           : std::isnan(worst.error) ? fmt::format("{} {:.5g}", worst.function, worst.metric)
                                                     : fmt::format("by {:.5g}", worst.error);
    const auto names = short_names(report.runners);
    return fmt::format("Different: {} of {} output(s), most of all '{}' ({}), {} vs. {}", failed, rows.size(),
                       worst.output, by, short_name(names, pair.runner0), short_name(names, pair.runner1));
  }
  return "";
}

}  // namespace assay
