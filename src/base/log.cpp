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
#include "base/log_format.h"
#include "base/visible_text.h"

namespace assay::log {
namespace {

constexpr size_t kBufferBytes = 16 << 10;

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

bool wants_color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(fd) != 0 && !(no_color && *no_color) && !(term && std::strcmp(term, "dumb") == 0);
}

struct Captured {
  std::string out, err;
};

struct State {
  State() : terminal(::isatty(STDOUT_FILENO) != 0) {}

  std::mutex mutex;
  Config config;
  std::unordered_set<std::string> seen;  ///< texts shown by once()
  std::string pending;                   ///< lines for stdout
  Captured* captured = nullptr;
  std::shared_ptr<const LogSink> sink;  ///< in the place of stdout and stderr; null: there is none
  int file = -1;
  const bool terminal;
  bool exiting = false;
  bool stdout_failed = false;
  std::string failure;  ///< what output_failure() says
};

bool flush_locked(State& s) {
  if (!s.pending.empty() && !write_fully(STDOUT_FILENO, s.pending)) {
    if (errno != EPIPE && s.failure.empty())
      s.failure = fmt::format("standard output: {}", std::strerror(errno));
    s.stdout_failed = true;
  }
  s.pending.clear();
  return !s.stdout_failed;
}

/// Never destroyed: a message may come from the destructor of another static object.
State& state() {
  static State* const s = [] {
    auto* made = new State;
    std::atexit([] {
      State& at_end = state();
      const std::lock_guard lock(at_end.mutex);
      flush_locked(at_end);
      at_end.exiting = true;
    });
    return made;
  }();
  return *s;
}

void set_lowest_threshold(const Config& config) {
  Severity lowest = config.threshold;
  for (const auto& [path, severity] : config.path_thresholds) lowest = std::min(lowest, severity);
  internal::lowest_threshold.store(static_cast<int>(lowest), std::memory_order_relaxed);
}

int open_log_file(const std::string& path) {
  std::error_code ignored;  // the open below reports what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  // A pipe that nobody reads is not waited for.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  require(fd >= 0, ErrorCode::kIo, "cannot write the log file {}: {}", path,
          errno == ENXIO ? "it is a pipe or a socket, and nobody reads it" : std::strerror(errno));
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

void write_file_locked(State& s, const std::string& line) {
  if (s.file < 0 || write_fully(s.file, line)) return;
  if (errno != EPIPE && s.failure.empty())
    s.failure = fmt::format("the log file {}: {}", s.config.file, std::strerror(errno));
  ::close(s.file);
  s.file = -1;
}

void emit_locked(State& s, Severity severity, std::string line) {
  const bool critical = severity >= Severity::kCritical;
  line += '\n';
  if (s.captured) {
    (critical ? s.captured->err : s.captured->out) += line;
    return;
  }
  write_file_locked(s, line);
  if (s.config.colors && wants_color(critical ? STDERR_FILENO : STDOUT_FILENO))
    line = colored(severity, line);
  if (critical) {
    flush_locked(s);
    write_fully(STDERR_FILENO, line);
    return;
  }
  s.pending += line;
  if (s.terminal || s.exiting || severity == Severity::kStart || s.pending.size() >= kBufferBytes)
    flush_locked(s);
}

/// As a sink gets it.
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

constinit std::atomic<int> internal::lowest_threshold{static_cast<int>(Severity::kInfo)};

bool internal::shown_at(Severity severity, const std::source_location& where) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return severity >= threshold_for(s.config, where.file_name());
}

void internal::write(Severity severity, bool once, fmt::string_view format, fmt::format_args args,
                     const std::source_location& where) {
  std::string text = fmt::vformat(format, args);
  State& s = state();
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(s.mutex);
    if (once && !s.seen.insert(text).second) return;
    if (s.captured == nullptr) sink = s.sink;
    if (sink == nullptr)
      emit_locked(s, severity, layout(prefix_for(s.config, severity, where), indentation, text));
    else
      write_file_locked(s, layout(prefix_for(s.config, severity, where), indentation, text) + '\n');
  }
  // Without the lock: a sink may wait for whoever logs.
  if (sink != nullptr) (*sink)(static_cast<int>(severity), indented(text));
}

void internal::write_critical(ErrorCode code, fmt::string_view format, fmt::format_args args,
                              const std::source_location& where) {
  write(Severity::kCritical, false, format, args, where);
  throw LoggedError(code, fmt::vformat(format, args));
}

void configure(Config config) {
  const int file = config.file.empty() ? -1 : open_log_file(config.file);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.file >= 0) ::close(s.file);
  s.file = file;
  s.config = std::move(config);
  set_lowest_threshold(s.config);
}

bool flush() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return flush_locked(s);
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
  flush_locked(s);
  s.pending = text;
  flush_locked(s);
}

std::string output_failure() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.failure;
}

Indent::Indent(int levels) : levels_(levels) { indentation += levels_; }
Indent::~Indent() { indentation -= levels_; }

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
  set_lowest_threshold(s.config);
}

Capture::~Capture() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.config = std::move(saved_->config);
  s.seen = std::move(saved_->seen);
  s.captured = saved_->captured;
  indentation = saved_->indentation;
  set_lowest_threshold(s.config);
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

namespace assay {

void set_log_sink(LogSink sink, int threshold) {
  log::State& s = log::state();
  const std::lock_guard lock(s.mutex);
  s.config.threshold = sink ? static_cast<log::Severity>(threshold) : log::Severity::kInfo;
  s.sink = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  log::set_lowest_threshold(s.config);
}

}  // namespace assay
