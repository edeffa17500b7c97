// One sentence when something that others wrote does not come back.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace assay::extension {

/// While it lives, a thread waits, and after kSeconds warns of it.
class Patience {
 public:
  static constexpr int kSeconds = 5;
  Patience(std::string what, std::string remedy);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable is_over_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace assay::extension
