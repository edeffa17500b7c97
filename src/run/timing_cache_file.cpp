#include "run/timing_cache_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/diagnostics.h"

namespace assay {
namespace {

/// Held while a timing cache is read, added to and written: several builds may share the file. The lock is a
/// file next to it, deleted on release. Where there can be none (a folder that is not writable), or another
/// process holds it for long, work goes on without: the cache is whole all the same, and only times that
/// another build adds at that moment may be lost.
class CacheLock {
 public:
  explicit CacheLock(const std::string& path) : path_(path + ".lock") {
    using Clock = std::chrono::steady_clock;
    for (auto until = Clock::now() + std::chrono::seconds(2); Clock::now() < until;
         std::this_thread::sleep_for(std::chrono::milliseconds(20)))
      if (try_once()) return;
    diag::warning("Another process holds {}; going on without waiting for it.", path_);
  }
  ~CacheLock() {
    if (fd_ < 0) return;
    ::unlink(path_.c_str());
    ::close(fd_);
  }
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  /// True when it is held, and when there is none to be had.
  bool try_once() {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) return true;
    // Its last holder may have deleted the file meanwhile.
    struct stat mine, there;
    if (::flock(fd_, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd_, &mine) == 0 &&
        ::stat(path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino)
      return true;
    ::close(fd_);
    fd_ = -1;
    return false;
  }

  std::string path_;
  int fd_ = -1;
};

}  // namespace

void load_timing_cache(const std::string& path, TimingCache& cache) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) {
    diag::warning("Timing cache file: {} does not exist. Falling back to an empty timing cache.", path);
    return;
  }
  const CacheLock lock(path);
  diag::info("Loading timing cache from {}", path);
  cache.load(path);
  if (std::filesystem::is_empty(path, ec))
    diag::warning("The timing cache {} is an empty file: no times are known.", path);
}

void save_timing_cache(const std::string& path, const std::string& environment, const TimingCache& cache) {
  const CacheLock lock(path);
  TimingCache all(environment);
  std::error_code ec;
  if (std::filesystem::exists(path, ec)) all.load(path);
  all.merge(cache);
  diag::info("Saving timing cache to {}", path);
  all.save(path);
}

}  // namespace assay
