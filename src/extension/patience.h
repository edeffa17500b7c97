// Warns when foreign code does not return.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace assay::extension {

/// Starts a thread that warns if the object still exists after kSeconds.
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
