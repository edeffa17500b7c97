#include "base/progress_line.h"

#include "base/log.h"

namespace assay {
namespace {

constexpr std::chrono::milliseconds kPause(100);

}  // namespace

ProgressLine::ProgressLine() : is_shown_(log::shows_progress()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(std::string_view text) {
  if (!is_shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (is_dirty_ && now - last_ < kPause) return;
  last_ = now;
  is_dirty_ = true;
  log::show_progress(text);
}

void ProgressLine::clear() {
  if (!is_dirty_) return;
  log::show_progress({});
  is_dirty_ = false;
}

}  // namespace assay
