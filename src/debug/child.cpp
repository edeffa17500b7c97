#include "debug/child.h"

#include "assay/error.h"
#include "base/isolated_jobs.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace assay::debug {
namespace {

// What comes back begins with one of these.
constexpr char kText = '=', kError = '!';

}  // namespace

std::string marked_result(const std::function<std::string()>& work) {
  try {
    return kText + work();
  } catch (const Error& e) {
    return kError + std::string(e.what());
  }
}

void read_marked_result(const std::string& text, ChildOutcome& outcome) {
  const bool is_text = text.starts_with(kText), is_error = text.starts_with(kError);
  // What is no Error comes without a sign of ours.
  (is_text ? outcome.text : outcome.error) = is_text || is_error ? text.substr(1) : text;
}

ChildOutcome run_in_child(const std::function<std::string()>& work, double timeout_seconds) {
  ChildOutcome outcome;
  run_isolated(
      1, {.workers = 1, .timeout_seconds = timeout_seconds}, [&](size_t) { return marked_result(work); },
      [&](const IsolatedJobResult& r) {
        outcome.death = r.death;
        outcome.is_overdue = r.death.starts_with("took longer");
        if (r.death.empty()) read_marked_result(r.text, outcome);
      });
  return outcome;
}

std::string in_child(const std::function<std::string()>& work) {
  ChildOutcome outcome = run_in_child(work);
  require(outcome.death.empty(), ErrorCode::kInvalidArgument, "the process that builds the engine {}",
          outcome.death);
  if (!outcome.error.empty()) throw Error(ErrorCode::kInvalidArgument, outcome.error);
  return std::move(outcome.text);
}

std::string packed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "[" : ", ") + json_quoted(name);
  return text.empty() ? "[]" : text + "]";
}

std::vector<std::string> unpacked(const std::string& text) {
  JsonReader json(text, "names");
  std::vector<std::string> names;
  json.expect(JsonEvent::kBeginArray, "names");
  while (json.peek() == JsonEvent::kString) names.emplace_back(json.expect_string("a name"));
  return names;
}

}  // namespace assay::debug
