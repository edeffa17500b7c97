#include "base/resident_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

namespace assay {
namespace {

/// Resident pages of files beyond this are released.
constexpr size_t kPages = size_t{24} << 20;
/// Interval of counting them.
constexpr auto kBetweenCounts = std::chrono::milliseconds(2);

struct Ranges {
  std::mutex mutex;
  std::multimap<const void*, size_t> list;
};

/// Never destroyed: mappings may outlive other statics.
Ranges& ranges() {
  static auto* const all = new Ranges;
  return *all;
}

void drop_ranges() {
  Ranges& all = ranges();
  const std::lock_guard lock(all.mutex);
  for (const auto& [first, bytes] : all.list) drop_resident_pages(first, bytes);
}

/// Bytes of files and shared memory that are resident in this process; 0 when the system does not say.
size_t resident_file_bytes(std::FILE* statm) {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::rewind(statm);
  unsigned long size = 0, resident = 0, shared = 0;
  if (std::fscanf(statm, "%lu %lu %lu", &size, &resident, &shared) != 3) return 0;
  return shared * page;
}

}  // namespace

bool is_reclaimable(const void* address) {
  Ranges& all = ranges();
  const std::lock_guard lock(all.mutex);
  auto it = all.list.upper_bound(address);
  if (it == all.list.begin()) return false;
  --it;
  return address < static_cast<const char*>(it->first) + it->second;
}

void drop_resident_pages(const void* first, size_t bytes) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto a = (reinterpret_cast<uintptr_t>(first) + page - 1) / page * page;
  const auto b = (reinterpret_cast<uintptr_t>(first) + bytes) / page * page;
  if (a < b) ::madvise(reinterpret_cast<void*>(a), b - a, MADV_DONTNEED);
}

void drop_after_use(const void* data, size_t bytes) {
  constexpr size_t kMin = size_t{64} << 10;
  if (bytes >= kMin && is_reclaimable(data)) drop_resident_pages(data, bytes);
}

void passed_over(std::string_view data) {
  constexpr size_t kLarge = 1 << 20;
  constexpr unsigned kPieces = 4;
  static std::atomic<unsigned> passed{0};
  if (data.size() < kLarge || passed.fetch_add(1, std::memory_order_relaxed) % kPieces != 0) return;
  Ranges& all = ranges();
  const std::lock_guard lock(all.mutex);
  auto it = all.list.upper_bound(data.data());
  if (it == all.list.begin()) return;
  --it;
  if (data.data() < static_cast<const char*>(it->first) + it->second)
    drop_resident_pages(it->first, it->second);
}

ReclaimableRange::ReclaimableRange(const void* first, size_t bytes) : first_(first) {
  Ranges& all = ranges();
  const std::lock_guard lock(all.mutex);
  all.list.emplace(first, bytes);
}

ReclaimableRange::~ReclaimableRange() {
  Ranges& all = ranges();
  const std::lock_guard lock(all.mutex);
  all.list.erase(all.list.find(first_));
}

void trim_heap() { ::malloc_trim(0); }

void release_resident_memory() {
  drop_ranges();
  trim_heap();
}

struct ResidentMemoryLimit::Watcher {
  std::mutex mutex;
  std::condition_variable stopping;
  bool stop = false;
  std::thread thread;

  /// Starts from the pages that are resident before the foreign code runs.
  void start() {
    std::FILE* statm = std::fopen("/proc/self/statm", "re");
    if (statm == nullptr) return;
    std::setvbuf(statm, nullptr, _IONBF, 0);
    const size_t base = resident_file_bytes(statm);
    thread = std::thread([this, statm, base] { watch(statm, base); });
  }

  void watch(std::FILE* statm, size_t base) {
    std::unique_lock lock(mutex);
    while (!stopping.wait_for(lock, kBetweenCounts, [this] { return stop; }))
      if (resident_file_bytes(statm) > base + kPages) drop_ranges();
    std::fclose(statm);
  }
};

ResidentMemoryLimit::ResidentMemoryLimit() {
  release_resident_memory();
  watcher_ = std::make_unique<Watcher>();
  watcher_->start();
}

ResidentMemoryLimit::~ResidentMemoryLimit() {
  {
    const std::lock_guard lock(watcher_->mutex);
    watcher_->stop = true;
  }
  watcher_->stopping.notify_one();
  if (watcher_->thread.joinable()) watcher_->thread.join();
  release_resident_memory();
}

}  // namespace assay
