// Diagnostics of the library besides its results: progress, warnings,
// findings. Messages go to the sink that a program sets (assay/log.h) or,
// in our own programs, to the terminal; without either they are discarded.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace assay::diag {

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

/// Indents the messages of this thread for its lifetime.
class Indent {
 public:
  explicit Indent(int levels = 1);
  /// The current indentation.
  static int levels();
  ~Indent();
  Indent(const Indent&) = delete;
  Indent& operator=(const Indent&) = delete;

 private:
  int levels_;
};

namespace internal {

/// The lowest threshold of any path.
extern std::atomic<int> lowest_threshold;
bool shown_at(Severity severity, const std::source_location& where);
void write(Severity severity, bool once, fmt::string_view format, fmt::format_args args,
           const std::source_location& where);

/// A format string with its source location.
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

/// True when a message of this severity from the calling line is shown; for texts that are costly.
inline bool enabled(Severity severity, std::source_location where = std::source_location::current()) {
  if (static_cast<int>(severity) < internal::lowest_threshold.load(std::memory_order_relaxed)) return false;
  return internal::shown_at(severity, where);
}

/// Sends a message formatted by fmt.
template <typename... Args>
void message(Severity severity, internal::FormatOf<Args...> format, Args&&... args) {
  if (!enabled(severity, format.where)) return;
  internal::write(severity, false, format.text, fmt::make_format_args(args...), format.where);
}
/// Sends the message unless the same text was sent by once() before.
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

}  // namespace assay::diag
