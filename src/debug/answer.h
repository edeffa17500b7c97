// The answer of a check on a candidate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

  bool passed() const { return kind == AnswerKind::kPass; }
};

}  // namespace assay::debug
