// The answer of a check on a candidate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json_reader.h"

namespace assay::debug {

enum class AnswerKind : uint8_t {
  kPass,
  kFailure,       ///< the sought failure
  kOtherFailure,  ///< it fails, but not in the same way
  kFlaky,         ///< it passes and fails in repeated checks
  kTimeOut,       ///< it exceeded the time limit and was ended
  kDidNotRun,     ///< there was no candidate, or the check did not start
};

/// The name in journals: "pass", "failure", "other failure", "flaky", "time-out", "did not run".
std::string_view answer_kind_name(AnswerKind kind);
/// The kind of that name. Throws Error (kInvalidArgument).
AnswerKind answer_kind_from_name(std::string_view name);

struct Answer {
  AnswerKind kind = AnswerKind::kPass;
  /// The failure, in words that are the same for the
  /// same failure of other candidates; empty for a pass.
  std::string failure = {};
  double seconds = 0;
  /// Of a check that was repeated: how often, and in how many of these runs it did not pass.
  int runs = 1, failed_runs = 0;
  /// Measured quantities, by name; empty where the check measures nothing.
  std::map<std::string, double> measures = {};

  bool passed() const { return kind == AnswerKind::kPass; }
};

/// Whether the failure that is looked for is there: one of its kind; where a repeated check
/// flips, also one that was there each time.
bool shows_failure(const Answer& answer, const Answer& sought);

/// Members of an object in JSON, with commas between them.
std::string answer_members(const Answer& answer);
/// Reads the value of one of these members; false, and nothing is read, for another. Throws what the reader
/// throws.
bool read_answer_member(JsonReader& json, std::string_view key, Answer& answer);
/// An object of these members alone, in one line; and what it says. Throws Error for what is none.
std::string answer_text(const Answer& answer);
Answer answer_from_text(std::string_view text);

}  // namespace assay::debug
