// The log that users read, in Polygraphy's line format. spdlog's patterns can neither put the indentation
// after the prefix nor repeat it on continuation lines, so the layout is our own.
//
//   [I] Accuracy Comparison | A vs. B            prefix, then 4 spaces per level of Indent, then the text
//   [I]     Comparing Output: 'y'
//           with 'y'                             continuation lines: the same indentation, blanks for the
//           prefix
//
// The library writes nowhere by itself: the lines go to the Output that a program sets (console/terminal.h),
// or to the sink of assay/log.h. Modules of the library say what they have to say through base/diagnostics.h;
// the functions here are for those that render results (console, cli). Every function may be called from any
// thread; a message is never torn apart by another.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/expected_error.h"
#include "base/log_config.h"

namespace assay::log {

using diag::Indent;

/// Replaces the configuration. Creates the folders of `file` and truncates it; throws Error (kIo) when that
/// fails.
void configure(Config config);

/// Where lines go that neither a Capture nor a sink takes. Called by one thread at a time.
class Output {
 public:
  virtual ~Output() = default;
  /// The lines of a message, each ended by a newline. `colors`: Config::colors.
  virtual void write(Severity severity, const std::string& lines, bool colors) = 0;
  /// Text without a prefix, after all lines so far.
  virtual void print(std::string_view text) = 0;
  /// A line in another library's own form.
  virtual void pass_on(std::string_view line) = 0;
  /// Hands what it holds back to the system; false if that refused something since the start of the process.
  virtual bool flush() = 0;
  /// What it could not take and why; empty: nothing.
  virtual std::string failure() = 0;
  /// A line beside the log that is written over and over; empty: it is taken away.
  virtual bool shows_progress() { return false; }
  virtual void show_progress(std::string_view /*text*/) {}
};
/// Null: nowhere, as at first. The output must live until the process ends.
void set_output(Output* output);

/// Hands all lines that are held back to the system. Call it before another writer uses stdout, before fork
/// and before a call that may end the process. False if stdout refused a line since the start of the process.
bool flush();

/// A line that another library would have written to standard error; it stays in that library's form. A sink
/// gets it with its severity. Ask enabled() first.
void pass_on(Severity severity, std::string_view line);

/// base/progress_line.h is for whoever works long.
bool shows_progress();
void show_progress(std::string_view text);

/// Text for the output without a prefix, after all lines so far, whatever the thresholds; not for the log
/// file.
void print(std::string_view text);

/// What the program's output could not take: "standard output: No space left on device", or the log file and
/// its reason. Empty while all went well; a reader of stdout that went away is not a failure.
std::string output_failure();

/// Collects what would have gone to stdout and stderr, for tests and for embedding. Captures nest. While one
/// lives its configuration holds (colours and log file off), and messages logged once before may be logged
/// again.
class Capture {
 public:
  explicit Capture(Config config = {});
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::string out() const;  ///< the lines for stdout so far, each ended by a newline
  std::string err() const;  ///< the same for stderr

 private:
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

/// An Error whose text the log has shown already: the command line exits with 1 and says no more.
class LoggedError : public ExpectedError {
 public:
  using ExpectedError::ExpectedError;
};

namespace internal {
[[noreturn]] void write_critical(ErrorCode code, fmt::string_view format, fmt::format_args args,
                                 const std::source_location& where);
}  // namespace internal

using diag::enabled;
using diag::error;
using diag::extra_verbose;
using diag::finish;
using diag::info;
using diag::message;
using diag::once;
using diag::start;
using diag::super_verbose;
using diag::ultra_verbose;
using diag::verbose;
using diag::warning;

/// Logs at kCritical with the indentation of this place, then throws LoggedError with the same text.
template <typename... Args>
[[noreturn]] void critical(ErrorCode code, diag::internal::FormatOf<Args...> format, Args&&... args) {
  internal::write_critical(code, format.text, fmt::make_format_args(args...), format.where);
}
/// Logs at kCritical without throwing; what the command line does with an Error that reached it.
template <typename... Args>
void report_critical(diag::internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kCritical, format, std::forward<Args>(args)...);
}

}  // namespace assay::log
