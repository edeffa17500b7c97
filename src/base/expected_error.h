// Failures that are foreseen: a run that meets one ends in an orderly way, and its last line says so, as
// upstream's does.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "assay/error.h"

namespace assay {

/// Remembers how it is to be reported: in the words that it has now, whatever places it passes through, as
/// far indented as the messages of its thread are now.
class ExpectedError : public Error {
 public:
  ExpectedError(ErrorCode code, std::string message);
  explicit ExpectedError(Error error);

  const std::string& report() const { return report_; }
  int indentation() const { return indentation_; }

 private:
  std::string report_;
  int indentation_;
};

template <typename... Args>
[[noreturn]] void fail_expected(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw ExpectedError(code, fmt::vformat(format, fmt::make_format_args(args...)));
}

}  // namespace assay
