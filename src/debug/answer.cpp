#include "debug/answer.h"

#include <iterator>

#include "assay/error.h"

namespace assay::debug {
namespace {

constexpr std::string_view kNames[] = {"pass",  "failure",  "other failure",
                                       "flaky", "time-out", "did not run"};

}  // namespace

std::string_view answer_kind_name(AnswerKind kind) { return kNames[static_cast<size_t>(kind)]; }

AnswerKind answer_kind_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<AnswerKind>(i);
  fail(ErrorCode::kInvalidArgument, "'{}' is no answer of a check", name);
}

}  // namespace assay::debug
