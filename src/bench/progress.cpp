#include "bench/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.h"

namespace assay::bench {
namespace {

constexpr size_t kColumns = 79;

void write_now(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

ProgressLine::ProgressLine() {
  const char* const terminal = std::getenv("TERM");
  const char* const no_color = std::getenv("NO_COLOR");
  is_on_ = ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb" &&
           log::enabled(log::Severity::kInfo);
  has_color_ = no_color == nullptr || *no_color == '\0';
}

void ProgressLine::show(const std::string& text) {
  if (!is_on_) return;
  const std::lock_guard lock(mutex_);
  if (shown_ == 0) log::flush();
  const std::string line = text.substr(0, kColumns);
  const std::string blanks(shown_ > line.size() ? shown_ - line.size() : 0, ' ');
  write_now(has_color_ ? fmt::format("\r\x1b[2m{}\x1b[0m{}", line, blanks)
                       : fmt::format("\r{}{}", line, blanks));
  shown_ = line.size();
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (shown_ == 0) return;
  write_now("\r" + std::string(shown_, ' ') + "\r");
  shown_ = 0;
}

std::string progress_text(const BuildProgress& p, double seconds) {
  std::string text = p.phase;
  if (p.total > 0) text += fmt::format(": {} of {}", p.done, p.total);
  if (p.done > 0 && p.done < p.total)
    text += fmt::format(", about {:.0f} s left", std::ceil(seconds * static_cast<double>(p.total - p.done) /
                                                           static_cast<double>(p.done)));
  if (p.from_cache > 0) text += fmt::format(", {} times from the cache", p.from_cache);
  if (!p.what.empty()) text += ": " + p.what;
  return text;
}

}  // namespace assay::bench
