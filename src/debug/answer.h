// What a check says of a candidate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::debug {

enum class AnswerKind : uint8_t {
  kPass,
  kFailure,       ///< the failure that is looked for
  kOtherFailure,  ///< it fails, but not in the same way
  kFlaky,         ///< it passes and fails in turns
  kTimeOut,       ///< it took longer than it may, and was ended
  kDidNotRun,     ///< nothing could be checked: there was no candidate, or the check did not start
};

/// As journals have it: "pass", "failure", "other failure", "flaky", "time-out", "did not run".
std::string_view answer_kind_name(AnswerKind kind);
/// The kind of that name. Throws Error (kInvalidArgument).
AnswerKind answer_kind_from_name(std::string_view name);

struct Answer {
  AnswerKind kind = AnswerKind::kPass;
  /// The way in which it failed, in words that are the same for the same failure of other candidates; empty
  /// for a pass.
  std::string failure = {};
  double seconds = 0;

  bool passed() const { return kind == AnswerKind::kPass; }
};

}  // namespace assay::debug
