#include "base/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/visible_text.h"

namespace assay {
namespace {

constexpr std::chrono::milliseconds kPause(100);

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

}  // namespace

ProgressLine::ProgressLine() {
  const char* term = std::getenv("TERM");
  is_terminal_ = ::isatty(STDERR_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(std::string_view text) {
  if (!is_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (is_dirty_ && now - last_ < kPause) return;
  last_ = now;
  if (!is_dirty_) log::flush();
  is_dirty_ = true;
  const std::string shown = visible_text(text, Lines::kOne).substr(0, terminal_width());
  std::fprintf(stderr, "\r%s\033[K", shown.c_str());
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!is_dirty_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  is_dirty_ = false;
}

}  // namespace assay
