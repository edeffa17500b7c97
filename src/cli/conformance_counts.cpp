#include "cli/conformance_counts.h"

#include <fmt/format.h>

#include "base/json_fields.h"

namespace assay::cli {

ConformanceCounts::ConformanceCounts(std::span<const ConformanceOutcome> outcomes,
                                     const ConformanceReport& report)
    : passed_(report.passed),
      failed_(report.failed),
      skipped_(report.skipped),
      problems_(report.problems.begin(), report.problems.end()) {
  for (const ConformanceOutcome& o : outcomes)
    passed_on_[o.target->name] += o.result.verdict == ConformanceResult::Verdict::kPassed ? 1 : 0;
}

void ConformanceCounts::add(const ConformanceCounts& other) {
  passed_ += other.passed_;
  failed_ += other.failed_;
  skipped_ += other.skipped_;
  for (const auto& [target, count] : other.passed_on_) passed_on_[target] += count;
  problems_.insert(other.problems_.begin(), other.problems_.end());
}

std::string ConformanceCounts::str() const {
  std::string text = fmt::format("{} passed, {} failed, {} skipped, {} problem(s)", passed_, failed_,
                                 skipped_, problems_.size());
  for (const std::string& problem : problems_) text += "\n  " + problem;
  return text;
}

void ConformanceCounts::write(JsonWriter& json) const {
  json.key("passed").value(passed_).key("failed").value(failed_).key("skipped").value(skipped_);
  json.key("passed_on").begin_object();
  for (const auto& [target, count] : passed_on_) json.key(target).value(count);
  json.end_object().key("problems").begin_array();
  for (const std::string& problem : problems_) json.value(problem);
  json.end_array();
}

ConformanceCounts ConformanceCounts::read(const JsonValue& object, const std::string& name) {
  const JsonFields fields(name);
  ConformanceCounts counts;
  counts.passed_ = fields.count(object, "passed");
  counts.failed_ = fields.count(object, "failed");
  counts.skipped_ = fields.count(object, "skipped");
  for (const auto& [target, count] : fields.member(object, "passed_on", JsonValue::Kind::kObject).members)
    counts.passed_on_[target] = fields.count_of(count, target);
  for (const JsonValue& problem : fields.items(object, "problems")) counts.problems_.insert(problem.text);
  return counts;
}

}  // namespace assay::cli
