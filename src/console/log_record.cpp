#include "console/log_record.h"

#include <mutex>

#include "base/log.h"
#include "console/terminal.h"

namespace assay {
namespace {

constexpr size_t kMostOfEach = 256 << 10;

}  // namespace

class LogRecord::Tee final : public log::Output {
 public:
  explicit Tee(log::Output& terminal) : terminal_(terminal) {}

  void write(log::Severity severity, const std::string& lines, bool colors) override {
    keep(lines);
    terminal_.write(severity, lines, colors);
  }
  void print(std::string_view text) override {
    keep(text);
    terminal_.print(text);
  }
  void pass_on(std::string_view line) override { terminal_.pass_on(line); }
  bool flush() override { return terminal_.flush(); }
  std::string failure() override { return terminal_.failure(); }
  bool shows_progress() override { return terminal_.shows_progress(); }
  void show_progress(std::string_view text) override { terminal_.show_progress(text); }

  std::string text() {
    const std::lock_guard lock(mutex_);
    return is_cut_ ? first_ + "...\n" + last_ : first_ + last_;
  }

 private:
  void keep(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (first_.size() < kMostOfEach) {
      first_ += text;
      return;
    }
    last_ += text;
    if (last_.size() < 2 * kMostOfEach) return;
    // From the beginning of a line on.
    const size_t from = last_.find('\n', last_.size() - kMostOfEach);
    last_.erase(0, from == std::string::npos ? last_.size() - kMostOfEach : from + 1);
    is_cut_ = true;
  }

  log::Output& terminal_;
  std::mutex mutex_;
  std::string first_, last_;
  bool is_cut_ = false;
};

LogRecord::LogRecord() : tee_(new Tee(terminal_output())) { log::set_output(tee_); }

LogRecord::~LogRecord() { log::set_output(&terminal_output()); }

std::string LogRecord::text() const { return tee_->text(); }

}  // namespace assay
