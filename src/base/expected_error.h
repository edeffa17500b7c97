// Expected failures: a run that meets one ends in
// an orderly way, with a final line as in upstream.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "assay/error.h"

namespace assay {

/// Records how to report it: with its current words, whatever places it passes through, and with the current
/// indentation of its thread.
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
