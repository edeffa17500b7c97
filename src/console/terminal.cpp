#include "console/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "assay/log.h"
#include "base/log.h"
#include "base/log_format.h"
#include "base/visible_text.h"
#include "console/text_wrap.h"

namespace assay {
namespace {

constexpr size_t kBufferBytes = 16 << 10;

/// Writes all bytes; false when the system refuses.
bool write_all(int fd, std::string_view bytes) {
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

class Terminal final : public log::Output {
 public:
  void write(log::Severity severity, const std::string& lines, bool colors) override {
    const bool critical = severity >= log::Severity::kCritical;
    const bool colored = colors && wants_color(critical ? STDERR_FILENO : STDOUT_FILENO);
    const std::string shown = wrapped_for(critical ? STDERR_FILENO : STDOUT_FILENO, lines);
    const std::string text = colored ? log::colored(severity, shown) : shown;
    if (critical) {
      flush();
      write_all(STDERR_FILENO, text);
      return;
    }
    pending_ += text;
    if (is_terminal_ || is_exiting || severity == log::Severity::kStart || pending_.size() >= kBufferBytes)
      flush();
  }

  void print(std::string_view text) override {
    flush();
    pending_ = text;
    flush();
  }

  void pass_on(std::string_view line) override { write_all(STDERR_FILENO, line); }

  bool flush() override {
    if (!pending_.empty() && !write_all(STDOUT_FILENO, pending_)) {
      if (errno != EPIPE && failure_.empty())
        failure_ = fmt::format("standard output: {}", std::strerror(errno));
      failed_ = true;
    }
    pending_.clear();
    return !failed_;
  }

  std::string failure() override { return failure_; }

  bool shows_progress() override {
    const char* term = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
  }

  void show_progress(std::string_view text) override {
    flush();
    if (text.empty()) {
      write_all(STDERR_FILENO, "\r\033[K");
    } else {
      const std::string shown = visible_text(text, Lines::kOne).substr(0, width());
      write_all(STDERR_FILENO, "\r" + shown + "\033[K");
    }
  }

  static std::atomic<bool> wraps;
  /// Lines logged after the final flush of a process are written immediately.
  static std::atomic<bool> is_exiting;

 private:
  static size_t width() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
  }

  std::string pending_;  ///< lines for stdout
  const bool is_terminal_ = ::isatty(STDOUT_FILENO) != 0;
  bool failed_ = false;
  std::string failure_;
};

std::atomic<bool> Terminal::is_exiting = false, Terminal::wraps = false;

}  // namespace

log::Output& terminal_output() {
  static log::Output* const terminal = [] {
    auto* made = new Terminal;  // never destroyed: destructors of static objects may log
    std::atexit([] {
      Terminal::is_exiting.store(true);
      log::flush();
    });
    return made;
  }();
  return *terminal;
}

std::string wrapped_for(int descriptor, std::string_view text) {
  return Terminal::wraps && ::isatty(descriptor) != 0 ? wrapped(text, text_columns()) : std::string(text);
}

void wrap_terminal_log() { Terminal::wraps.store(true); }

void open_terminal_log() { log::set_output(&terminal_output()); }

int close_terminal_log(int status) {
  log::flush();
  const std::string failure = log::output_failure();
  if (failure.empty()) return status;
  write_all(STDERR_FILENO, fmt::format("[!] cannot write {}\n", failure));
  return status == 0 ? 1 : status;
}

size_t text_columns() {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    char* end = nullptr;
    const long given = std::strtol(columns, &end, 10);
    if (end != columns && *end == '\0' && given > 0) return static_cast<size_t>(std::min(given, 1000L));
  }
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void show_log(int threshold) {
  open_terminal_log();
  log::configure({.threshold = static_cast<log::Severity>(threshold)});
}

}  // namespace assay
