#include "base/memory_limit.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "assay/error.h"

namespace assay {
namespace {

using Path = std::filesystem::path;

/// The number in a file of a control group; INT64_MAX where there is none.
int64_t limit_in(const Path& path) {
  long long value = 0;  // the word `max` leaves it 0
  std::ifstream file(path);
  return file >> value && value > 0 ? value : INT64_MAX;
}

/// The smallest limit of the process's control group and of those around it, in both versions of the
/// interface; INT64_MAX where there is none.
int64_t control_group_limit() {
  int64_t bytes = INT64_MAX;
  const auto climb = [&](const Path& root, const std::string& group, const char* name) {
    for (Path at = Path(group).relative_path();; at = at.parent_path()) {
      bytes = std::min(bytes, limit_in(root / at / name));
      if (at.empty()) return;
    }
  };
  climb("/sys/fs/cgroup", "", "memory.max");
  climb("/sys/fs/cgroup/memory", "", "memory.limit_in_bytes");
  // Lines such as `0::/user.slice/a.scope` and `5:memory:/a`.
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    if (controllers.empty()) climb("/sys/fs/cgroup", group, "memory.max");
    if (controllers == "memory") climb("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
  }
  return bytes;
}

int64_t machine_limit() {
  int64_t bytes = INT64_MAX;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) bytes = static_cast<int64_t>(pages) * page;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<int64_t>(limit.rlim_cur));
  return std::min(bytes, control_group_limit());
}

std::atomic<int64_t> chosen{0};
std::atomic<int64_t> in_use{0};
std::atomic<int64_t> heap{0}, free_heap{kFreeHeap};

/// Of the heap, what counts.
int64_t counted_heap() {
  return std::max<int64_t>(heap.load(std::memory_order_relaxed) - free_heap.load(std::memory_order_relaxed),
                           0);
}

bool has_room(size_t bytes) {
  if (bytes > INT64_MAX / 2) return false;
  const int64_t counted = heap.load(std::memory_order_relaxed) + static_cast<int64_t>(bytes) -
                          free_heap.load(std::memory_order_relaxed);
  if (counted <= 0) return true;
  // To find out what the machine has, the first time, takes blocks, too.
  static thread_local constinit bool is_asking = false;
  if (is_asking) return true;
  is_asking = true;
  const int64_t limit = memory_limit();
  is_asking = false;
  return in_use.load(std::memory_order_relaxed) <= limit - counted;
}

void* heap_block(size_t bytes) {
  if (bytes >= kCountedBlock && !has_room(bytes)) throw std::bad_alloc();
  void* block = std::malloc(std::max<size_t>(bytes, 1));
  while (block == nullptr) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    block = std::malloc(bytes);
  }
  const size_t usable = malloc_usable_size(block);
  if (usable >= kCountedBlock) heap.fetch_add(static_cast<int64_t>(usable), std::memory_order_relaxed);
  return block;
}

void give_back(void* block) {
  if (block == nullptr) return;
  const size_t usable = malloc_usable_size(block);
  if (usable >= kCountedBlock) heap.fetch_sub(static_cast<int64_t>(usable), std::memory_order_relaxed);
  std::free(block);
}

}  // namespace

int64_t memory_limit() {
  if (const int64_t bytes = chosen.load(std::memory_order_relaxed); bytes > 0) return bytes;
  static const int64_t machine = machine_limit() / 2;
  return machine;
}

void set_memory_limit(int64_t bytes) { chosen.store(bytes, std::memory_order_relaxed); }

int64_t memory_in_use() { return in_use.load(std::memory_order_relaxed) + counted_heap(); }
int64_t memory_left() { return std::max<int64_t>(memory_limit() - memory_in_use(), 0); }

void forgive_heap() {
  const int64_t now = heap.load(std::memory_order_relaxed);
  if (now > free_heap.load(std::memory_order_relaxed)) free_heap.store(now, std::memory_order_relaxed);
}

MemoryCeiling::MemoryCeiling(int64_t bytes) : before_(chosen.load(std::memory_order_relaxed)) {
  set_memory_limit(std::max<int64_t>(std::min(memory_in_use() + bytes, memory_limit()), 1));
}
MemoryCeiling::~MemoryCeiling() { set_memory_limit(before_); }

bool MemoryShare::take(int64_t bytes) noexcept {
  const int64_t limit = memory_limit() - counted_heap();
  // Added first, so that threads that ask at once do not both get the last of it; no sum of shares overflows,
  // as none is above the limit.
  if (bytes > limit || in_use.fetch_add(bytes, std::memory_order_relaxed) > limit - bytes) {
    if (bytes <= limit) in_use.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  bytes_ += bytes;
  return true;
}

MemoryShare::MemoryShare(int64_t bytes, const char* what) {
  if (take(bytes)) return;
  Error e(ErrorCode::kUnsupported, fmt::format("{} takes {} bytes, but {} of {} bytes are in use", what,
                                               bytes, memory_in_use(), memory_limit()));
  throw e.set_remedy("The option --memory-limit changes how many there may be.");
}

MemoryShare& MemoryShare::operator=(MemoryShare&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryShare::~MemoryShare() { in_use.fetch_sub(bytes_, std::memory_order_relaxed); }

}  // namespace assay

// All that is not a tensor comes from here, as std::string, std::vector and the rest ask for it: what a small
// model can make of it is not known before.
void* operator new(size_t bytes) { return assay::heap_block(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return assay::heap_block(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block, const std::nothrow_t&) noexcept { assay::give_back(block); }
void operator delete(void* block) noexcept { assay::give_back(block); }
void operator delete(void* block, size_t) noexcept { assay::give_back(block); }
