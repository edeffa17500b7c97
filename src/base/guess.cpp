#include "base/guess.h"

#include <atomic>

#include "base/expected_error.h"

namespace assay::diag {
namespace {

std::atomic<bool> refused = false;

/// Lines that belong to one sentence, without the blanks at its end.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

void refuse_guesses(bool refuse) { refused.store(refuse); }
bool guesses_are_refused() { return refused.load(); }

void refuse_guess(const std::string& sentence) {
  if (refused.load())
    fail_expected(ErrorCode::kInvalidArgument, "A guess is refused: {}", one_line(sentence));
}

void internal::write_guess(bool once, fmt::string_view format, fmt::format_args args,
                           const std::source_location& where) {
  if (refused.load()) refuse_guess(fmt::vformat(format, args));
  if (enabled(Severity::kWarning, where)) write(Severity::kWarning, once, format, args, where);
}

}  // namespace assay::diag
