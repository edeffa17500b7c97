#include "extension/patience.h"

#include "base/diagnostics.h"
#include "base/log.h"

namespace assay::extension {
namespace {

/// The delay before the warning.
void say_now(const std::string& what, const std::string& remedy) {
  diag::warning("{} Press Ctrl-C to end assay. {}", what, remedy);
  log::flush();
}

}  // namespace

Patience::Patience(std::string what, std::string remedy)
    : thread_([this, what = std::move(what), remedy = std::move(remedy)] {
        std::unique_lock lock(mutex_);
        if (!is_over_.wait_for(lock, std::chrono::seconds(kSeconds), [&] { return over_; }))
          say_now(what, remedy);
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
