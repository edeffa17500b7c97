// The log that users read, in Polygraphy's line format. spdlog's patterns can neither put the indentation
// after the prefix nor repeat it on continuation lines, so the layout is our own.
//
//   [I] Accuracy Comparison | A vs. B            prefix, then 4 spaces per level of Indent, then the text
//   [I]     Comparing Output: 'y'
//           with 'y'                             continuation lines: the same indentation, blanks for the
//           prefix
//
// Everything goes to stdout, only kCritical to stderr. On a terminal, and unless NO_COLOR is set, a line has
// the colour of its severity. Every function may be called from any thread; a message is never torn apart by
// another.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/error.h"

namespace assay::log {

/// A message is shown when its severity is at least the threshold. The letters in the prefix are U S X V I I
/// I W E !.
enum class Severity : int {
  kUltraVerbose = -20,
  kSuperVerbose = -10,
  kExtraVerbose = 0,
  kVerbose = 10,
  kInfo = 20,
  kStart = 22,   ///< a piece of work begins
  kFinish = 28,  ///< a piece of work ended well
  kWarning = 30,
  kError = 40,
  kCritical = 50,
};

/// What is shown and how.
struct Config {
  Severity threshold = Severity::kInfo;
  /// Thresholds of single source folders or files ("compare", "backends/onnxrt.cpp"), relative to src/. The
  /// longest match wins, the later one among equals.
  std::vector<std::pair<std::string, Severity>> path_thresholds;
  bool timestamp = false;  ///< `(HH:MM:SS) ` in the prefix
  bool line_info = false;  ///< `[file:line] ` in the prefix
  bool colors = true;      ///< false: no colours, not even on a terminal
  std::string file;        ///< also write every shown line here, without colours; empty: no file
};

/// Replaces the configuration. Creates the folders of `file` and truncates it; throws Error (kIo) when that
/// fails.
void configure(Config config);

/// The threshold that `-v` given `verbose` times and `-q` given `quiet` times stand for.
Severity severity_from_counts(int verbose, int quiet);
/// ULTRA_VERBOSE, SUPER_VERBOSE, ..., CRITICAL, in any case.
std::optional<Severity> severity_from_name(std::string_view name);
/// Applies one value of `--verbosity`: `LEVEL` or `path:LEVEL`. Throws Error (kInvalidArgument) naming the
/// levels.
void add_verbosity(Config& config, std::string_view value);

/// Hands all buffered lines to the system. Lines are held back until a START message, a critical one, a full
/// buffer, or the end of the process; a terminal gets each at once. Call it before another writer uses
/// stdout, before fork and before a call that may end the process. False if stdout refused a line since the
/// start of the process.
bool flush();

/// Text for stdout without a prefix, after all lines so far, whatever the thresholds; not for the log file.
void print(std::string_view text);

/// What the program's output could not take: "standard output: No space left on device", or the log file and
/// its reason. Empty while all went well; a reader of stdout that went away is not a failure.
std::string output_failure();

/// Indents the messages of this thread while it lives.
class Indent {
 public:
  explicit Indent(int levels = 1);
  ~Indent();
  Indent(const Indent&) = delete;
  Indent& operator=(const Indent&) = delete;

 private:
  int levels_;
};

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
class LoggedError : public Error {
 public:
  using Error::Error;
};

namespace internal {

/// The lowest threshold of any path.
extern std::atomic<int> lowest_threshold;
bool shown_at(Severity severity, const std::source_location& where);
void write(Severity severity, bool once, fmt::string_view format, fmt::format_args args,
           const std::source_location& where);
[[noreturn]] void write_critical(ErrorCode code, fmt::string_view format, fmt::format_args args,
                                 const std::source_location& where);

/// A format string that remembers the line it stands on.
template <typename... Args>
struct Format {
  template <typename Text>
  consteval Format(const Text& text, std::source_location where = std::source_location::current())  // NOLINT
      : text(text), where(where) {}
  fmt::format_string<Args...> text;
  std::source_location where;
};
template <typename... Args>
using FormatOf = Format<std::type_identity_t<Args>...>;

}  // namespace internal

/// Whether a message of this severity from the calling line is shown; ask before building a costly text.
inline bool enabled(Severity severity, std::source_location where = std::source_location::current()) {
  if (static_cast<int>(severity) < internal::lowest_threshold.load(std::memory_order_relaxed)) return false;
  return internal::shown_at(severity, where);
}

/// Logs a message formatted by fmt.
template <typename... Args>
void message(Severity severity, internal::FormatOf<Args...> format, Args&&... args) {
  if (!enabled(severity, format.where)) return;
  internal::write(severity, false, format.text, fmt::make_format_args(args...), format.where);
}
/// Logs the message unless the same text was shown by once() before.
template <typename... Args>
void once(Severity severity, internal::FormatOf<Args...> format, Args&&... args) {
  if (!enabled(severity, format.where)) return;
  internal::write(severity, true, format.text, fmt::make_format_args(args...), format.where);
}

template <typename... Args>
void ultra_verbose(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kUltraVerbose, format, std::forward<Args>(args)...);
}
template <typename... Args>
void super_verbose(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kSuperVerbose, format, std::forward<Args>(args)...);
}
template <typename... Args>
void extra_verbose(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kExtraVerbose, format, std::forward<Args>(args)...);
}
template <typename... Args>
void verbose(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kVerbose, format, std::forward<Args>(args)...);
}
template <typename... Args>
void info(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void start(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kStart, format, std::forward<Args>(args)...);
}
template <typename... Args>
void finish(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kFinish, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warning(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kError, format, std::forward<Args>(args)...);
}
/// Logs at kCritical with the indentation of this place, then throws LoggedError with the same text.
template <typename... Args>
[[noreturn]] void critical(ErrorCode code, internal::FormatOf<Args...> format, Args&&... args) {
  internal::write_critical(code, format.text, fmt::make_format_args(args...), format.where);
}
/// Logs at kCritical without throwing; what the command line does with an Error that reached it.
template <typename... Args>
void report_critical(internal::FormatOf<Args...> format, Args&&... args) {
  message<Args...>(Severity::kCritical, format, std::forward<Args>(args)...);
}

}  // namespace assay::log
