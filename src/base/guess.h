// Guesses: values that the library chooses because no option gave them. Each is a warning, or, where a
// program wants to be sure of what it runs, an error.
#pragma once

#include <source_location>
#include <string>
#include <utility>

#include "base/diagnostics.h"

namespace assay::diag {

/// From now on, in this process, a guess throws. The program's own setting: --strict.
void refuse_guesses(bool refuse);
bool guesses_are_refused();
/// Throws ExpectedError (kInvalidArgument) where guesses are refused: for one whose warning is an observer's.
void refuse_guess(const std::string& sentence);

namespace internal {
/// Warns, or throws ExpectedError (kInvalidArgument).
void write_guess(bool once, fmt::string_view format, fmt::format_args args,
                 const std::source_location& where);
}  // namespace internal

template <typename... Args>
void guess(internal::FormatOf<Args...> format, Args&&... args) {
  internal::write_guess(false, format.text, fmt::make_format_args(args...), format.where);
}
/// The warning is not repeated.
template <typename... Args>
void guess_once(internal::FormatOf<Args...> format, Args&&... args) {
  internal::write_guess(true, format.text, fmt::make_format_args(args...), format.where);
}

}  // namespace assay::diag
