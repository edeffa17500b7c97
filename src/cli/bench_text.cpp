#include "cli/bench_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.h"

namespace assay::cli {
namespace {

constexpr size_t kColumns = 79;

void write_now(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

BenchProgress::BenchProgress() {
  const char* const terminal = std::getenv("TERM");
  const char* const no_color = std::getenv("NO_COLOR");
  is_on_ = ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb" &&
           log::enabled(log::Severity::kInfo);
  has_color_ = no_color == nullptr || *no_color == '\0';
}

void BenchProgress::show(const std::string& text) {
  if (!is_on_) return;
  const std::lock_guard lock(mutex_);
  if (shown_ == 0) log::flush();
  const std::string line = text.substr(0, kColumns);
  const std::string blanks(shown_ > line.size() ? shown_ - line.size() : 0, ' ');
  write_now(has_color_ ? fmt::format("\r\x1b[2m{}\x1b[0m{}", line, blanks)
                       : fmt::format("\r{}{}", line, blanks));
  shown_ = line.size();
}

void BenchProgress::clear() {
  const std::lock_guard lock(mutex_);
  if (shown_ == 0) return;
  write_now("\r" + std::string(shown_, ' ') + "\r");
  shown_ = 0;
}

void BenchText::on_line(const std::string& line) {
  progress_.clear();
  log::info("{}", line);
}

void BenchText::on_warning(const std::string& sentence) {
  progress_.clear();
  log::warning("{}", sentence);
}

void BenchText::on_progress(const std::string& text) {
  if (text.empty())
    progress_.clear();
  else
    progress_.show(text);
}

}  // namespace assay::cli
