#include "base/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "assay/log.h"
#include "base/held_error.h"
#include "base/log_format.h"
#include "base/visible_text.h"

namespace assay::log {
namespace {

thread_local int indentation = 0;

/// Writes all bytes; false when the system refuses.
bool write_fully(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

struct Captured {
  std::string out, err;
};

/// Above every severity.
constexpr int kNobodyListens = 1000;

struct State {
  std::mutex mutex;
  Config config;
  std::unordered_set<std::string> seen;  ///< texts shown by once()
  Captured* captured = nullptr;
  std::shared_ptr<const LogSink> sink;  ///< in place of the output; null: none
  Output* output = nullptr;
  int file = -1;
  bool holds_errors = false;
  std::string held_error;    ///< the first one that was not shown
  std::string file_failure;  ///< the failure of writing to the log file
};

/// Never destroyed: a message may come from the destructor of another static object.
State& state() {
  static auto* const s = new State;
  return *s;
}

/// Without a receiver no message is formatted.
void set_lowest_threshold(const State& s) {
  int lowest = static_cast<int>(s.config.threshold);
  for (const auto& [path, severity] : s.config.path_thresholds)
    lowest = std::min(lowest, static_cast<int>(severity));
  if (s.holds_errors) lowest = std::min(lowest, static_cast<int>(Severity::kError));
  if (s.captured == nullptr && s.sink == nullptr && s.output == nullptr && s.file < 0)
    lowest = kNobodyListens;
  diag::internal::lowest_threshold.store(lowest, std::memory_order_relaxed);
}

int open_log_file(const std::string& path) {
  std::error_code ignored;  // the open below reports the error
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  // Does not block on a pipe without a reader.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  require(fd >= 0, ErrorCode::kIo, "cannot write the log file {}: {}", path,
          errno == ENXIO ? "it is a pipe or a socket, and nobody reads it" : std::strerror(errno));
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

void write_file_locked(State& s, const std::string& line) {
  if (s.file < 0 || write_fully(s.file, line)) return;
  if (errno != EPIPE && s.file_failure.empty())
    s.file_failure = fmt::format("the log file {}: {}", s.config.file, std::strerror(errno));
  ::close(s.file);
  s.file = -1;
}

void emit_locked(State& s, Severity severity, std::string lines) {
  lines += '\n';
  if (s.captured != nullptr) {
    (severity >= Severity::kCritical ? s.captured->err : s.captured->out) += lines;
    return;
  }
  write_file_locked(s, lines);
  if (s.output != nullptr) s.output->write(severity, lines, s.config.colors);
}

/// The form for sinks.
std::string indented(std::string_view text) {
  const std::string blanks(static_cast<size_t>(std::max(indentation, 0)) * 4, ' ');
  std::string out = blanks;
  for (const char c : visible_text(text, Lines::kMany)) {
    out += c;
    if (c == '\n') out += blanks;
  }
  return out;
}

Prefix prefix_for(const Config& config, Severity severity, const std::source_location& where) {
  Prefix prefix{.severity = severity};
  if (config.timestamp) prefix.time = std::time(nullptr);
  if (config.line_info) prefix.where = &where;
  return prefix;
}

}  // namespace

void internal::write_critical(ErrorCode code, fmt::string_view format, fmt::format_args args,
                              const std::source_location& where) {
  diag::internal::write(Severity::kCritical, false, format, args, where);
  throw LoggedError(code, fmt::vformat(format, args));
}

void configure(Config config) {
  const int file = config.file.empty() ? -1 : open_log_file(config.file);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.file >= 0) ::close(s.file);
  s.file = file;
  s.config = std::move(config);
  set_lowest_threshold(s);
}

void hold_errors(bool hold) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.holds_errors = hold;
  s.held_error.clear();
  set_lowest_threshold(s);
}

std::string held_error() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.held_error;
}

void set_output(Output* output) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.output = output;
  set_lowest_threshold(s);
}

bool flush() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.output == nullptr || s.output->flush();
}

void pass_on(Severity severity, std::string_view line) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (s.captured != nullptr) {
    s.captured->err += line;
  } else if (const std::shared_ptr<const LogSink> sink = s.sink) {
    lock.unlock();
    (*sink)(static_cast<int>(severity), std::string(line.substr(0, line.find_last_not_of('\n') + 1)));
  } else if (s.output != nullptr) {
    s.output->pass_on(line);
  }
}

bool shows_progress() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.output != nullptr && s.captured == nullptr && s.sink == nullptr && s.output->shows_progress();
}

void show_progress(std::string_view text) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.output != nullptr) s.output->show_progress(text);
}

void print(std::string_view text) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (s.captured) {
    s.captured->out += text;
    return;
  }
  if (const std::shared_ptr<const LogSink> sink = s.sink) {
    lock.unlock();
    (*sink)(static_cast<int>(Severity::kInfo), std::string(text));
    return;
  }
  if (s.output != nullptr) s.output->print(text);
}

std::string output_failure() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return !s.file_failure.empty() || s.output == nullptr ? s.file_failure : s.output->failure();
}

struct Capture::Saved {
  Config config;
  std::unordered_set<std::string> seen;
  Captured* captured;
  int indentation;
  Captured collected;
};

Capture::Capture(Config config) : saved_(std::make_unique<Saved>()) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  saved_->config = std::exchange(s.config, std::move(config));
  saved_->seen = std::exchange(s.seen, {});
  saved_->captured = std::exchange(s.captured, &saved_->collected);
  saved_->indentation = std::exchange(indentation, 0);
  set_lowest_threshold(s);
}

Capture::~Capture() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.config = std::move(saved_->config);
  s.seen = std::move(saved_->seen);
  s.captured = saved_->captured;
  indentation = saved_->indentation;
  set_lowest_threshold(s);
}

std::string Capture::out() const {
  const std::lock_guard lock(state().mutex);
  return saved_->collected.out;
}

std::string Capture::err() const {
  const std::lock_guard lock(state().mutex);
  return saved_->collected.err;
}

}  // namespace assay::log

namespace assay::diag {

constinit std::atomic<int> internal::lowest_threshold{log::kNobodyListens};

bool internal::shown_at(Severity severity, const std::source_location& where) {
  log::State& s = log::state();
  const std::lock_guard lock(s.mutex);
  if (s.holds_errors && severity == Severity::kError) return true;
  return severity >= log::threshold_for(s.config, where.file_name());
}

void internal::write(Severity severity, bool once, fmt::string_view format, fmt::format_args args,
                     const std::source_location& where) {
  std::string text = fmt::vformat(format, args);
  log::State& s = log::state();
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(s.mutex);
    if (s.holds_errors && severity < log::threshold_for(s.config, where.file_name())) {
      if (s.held_error.empty()) s.held_error = std::move(text);
      return;
    }
    if (once && !s.seen.insert(text).second) return;
    if (s.captured == nullptr) sink = s.sink;
    std::string lines = log::layout(log::prefix_for(s.config, severity, where), log::indentation, text);
    if (sink == nullptr)
      log::emit_locked(s, severity, std::move(lines));
    else
      log::write_file_locked(s, lines + '\n');
  }
  // Without the lock: a sink may wait for a thread that logs.
  if (sink != nullptr) (*sink)(static_cast<int>(severity), log::indented(text));
}

Indent::Indent(int levels) : levels_(levels) { log::indentation += levels_; }
Indent::~Indent() { log::indentation -= levels_; }
int Indent::levels() { return log::indentation; }

}  // namespace assay::diag

namespace assay {

ExpectedError::ExpectedError(ErrorCode code, std::string message)
    : ExpectedError(Error(code, std::move(message))) {}

ExpectedError::ExpectedError(Error error)
    : Error(std::move(error)), report_(what()), indentation_(diag::Indent::levels()) {}

void set_log_sink(LogSink sink, int threshold) {
  log::State& s = log::state();
  const std::lock_guard lock(s.mutex);
  s.config.threshold = sink ? static_cast<log::Severity>(threshold) : log::Severity::kInfo;
  s.sink = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  log::set_lowest_threshold(s);
}

}  // namespace assay
