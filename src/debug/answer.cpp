#include "debug/answer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "assay/error.h"
#include "base/json_writer.h"

namespace assay::debug {
namespace {

constexpr std::string_view kNames[] = {"pass",  "failure",  "other failure",
                                       "flaky", "time-out", "did not run"};

std::map<std::string, double> read_measures(JsonReader& json) {
  std::map<std::string, double> measures;
  json.expect(JsonEvent::kBeginObject, "measures");
  while (json.next_key()) {
    std::string name(json.string());
    measures[std::move(name)] = json.expect_double("a measure");
  }
  return measures;
}

/// As JsonReader reads it.
std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

std::string measures_text(const std::map<std::string, double>& measures) {
  if (measures.empty()) return {};
  std::string text;
  for (const auto& [name, value] : measures)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_quoted(name), json_number(value));
  return fmt::format(", \"measures\": {{{}}}", text);
}

}  // namespace

std::string_view answer_kind_name(AnswerKind kind) { return kNames[static_cast<size_t>(kind)]; }

AnswerKind answer_kind_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<AnswerKind>(i);
  fail(ErrorCode::kInvalidArgument, "'{}' is no answer of a check", name);
}

bool shows_failure(const Answer& answer, const Answer& sought) {
  if (answer.kind == sought.kind) return !answer.passed();
  return sought.kind == AnswerKind::kFlaky && sought.runs > 1 && answer.kind == AnswerKind::kFailure;
}

std::string answer_members(const Answer& answer) {
  const std::string runs =
      answer.runs > 1 ? fmt::format(", \"runs\": {}, \"failed_runs\": {}", answer.runs, answer.failed_runs)
                      : "";
  return fmt::format("\"answer\": {}, \"failure\": {}, \"seconds\": {:.6f}{}{}",
                     json_quoted(answer_kind_name(answer.kind)), json_quoted(answer.failure), answer.seconds,
                     runs, measures_text(answer.measures));
}

bool read_answer_member(JsonReader& json, std::string_view key, Answer& answer) {
  if (key == "answer")
    answer.kind = answer_kind_from_name(json.expect_string("an answer"));
  else if (key == "failure")
    answer.failure = json.expect_string("a failure");
  else if (key == "seconds")
    answer.seconds = json.expect_double("seconds");
  else if (key == "runs")
    answer.runs = static_cast<int>(json.expect_int64("runs"));
  else if (key == "failed_runs")
    answer.failed_runs = static_cast<int>(json.expect_int64("runs"));
  else if (key == "measures")
    answer.measures = read_measures(json);
  else
    return false;
  return true;
}

std::string answer_text(const Answer& answer) { return "{" + answer_members(answer) + "}"; }

Answer answer_from_text(std::string_view text) {
  JsonReader json(text, "an answer");
  Answer answer;
  json.expect(JsonEvent::kBeginObject, "an answer");
  while (json.next_key())
    if (!read_answer_member(json, std::string(json.string()), answer)) json.skip_value();
  return answer;
}

}  // namespace assay::debug
