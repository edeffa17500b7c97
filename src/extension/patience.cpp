#include "extension/patience.h"

#include <fmt/format.h>

#include "base/crash_report.h"

namespace assay::extension {

Patience::Patience(std::string what, std::string remedy)
    : thread_([this, what = std::move(what), remedy = std::move(remedy)] {
        std::unique_lock lock(mutex_);
        if (!is_over_.wait_for(lock, std::chrono::seconds(kSeconds), [&] { return over_; }))
          say_at_once(fmt::format("[W] {} Press Ctrl-C to end assay. {}\n", what, remedy));
      }) {}

Patience::~Patience() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  is_over_.notify_one();
  thread_.join();
}

}  // namespace assay::extension
