#include "base/memory_limit.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "assay/error.h"
#include "base/control_group.h"
#include "base/resident_limit.h"
#include "base/wording.h"

namespace assay {
namespace {

int64_t machine_limit() {
  int64_t bytes = INT64_MAX;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) bytes = static_cast<int64_t>(pages) * page;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<int64_t>(limit.rlim_cur));
  const char* root = std::getenv("ASSAY_CONTROL_GROUP_ROOT");
  return std::min(bytes, control_group_limit(root != nullptr ? root : ""));
}

/// Determining the machine's memory allocates blocks itself: those are granted.
thread_local constinit bool is_asking = false;

int64_t known_machine_limit() {
  static const int64_t bytes = [] {
    is_asking = true;
    const int64_t found = machine_limit();
    is_asking = false;
    return found;
  }();
  return bytes;
}

std::atomic<int64_t> chosen{0};
std::atomic<int64_t> in_use{0};
/// Bytes of heap blocks of at least kCountedBlock, and the free part of them.
std::atomic<int64_t> heap{0}, free_heap{kFreeHeap};

/// The whole heap, and the limit of heap and tensors together: 0 until it is requested.
std::atomic<int64_t> whole_heap{0}, resident{0};
/// The overhead of malloc per block.
constexpr int64_t kBlockOverhead = 16;
/// Threads accumulate allocations and releases, and publish the sum from time to time.
constexpr int64_t kTold = int64_t{16} << 10;
/// Below this the limit is not checked.
constexpr int64_t kUnasked = int64_t{16} << 20;
thread_local constinit int64_t untold = 0;
/// Reporting a refusal allocates blocks, too.
constexpr int64_t kGrace = int64_t{4} << 20;
std::atomic<int64_t> grace{0};

/// True when this thread's unpublished blocks fit.
bool tell(int64_t bytes) {
  untold += bytes;
  if (untold > -kTold && untold < kTold) return true;
  const int64_t all = whole_heap.fetch_add(untold, std::memory_order_relaxed) + untold;
  untold = 0;
  if (is_asking || all <= kUnasked) return true;
  const int64_t left = resident_limit() - all - in_use.load(std::memory_order_relaxed),
                more = grace.load(std::memory_order_relaxed);
  if (bytes < 0) {
    if (more != 0 && left > 4 * kGrace) grace.store(0, std::memory_order_relaxed);
    return true;
  }
  if (left + more >= 0) return true;
  grace.fetch_add(kGrace, std::memory_order_relaxed);
  return false;
}

/// The counted part of the heap.
int64_t counted_heap() {
  return std::max<int64_t>(heap.load(std::memory_order_relaxed) - free_heap.load(std::memory_order_relaxed),
                           0);
}

bool has_room(size_t bytes) {
  if (bytes > INT64_MAX / 2) return false;
  const int64_t counted = heap.load(std::memory_order_relaxed) + static_cast<int64_t>(bytes) -
                          free_heap.load(std::memory_order_relaxed);
  if (counted <= 0) return true;
  return is_asking || in_use.load(std::memory_order_relaxed) <= memory_limit() - counted;
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
  if (!tell(static_cast<int64_t>(usable) + kBlockOverhead)) {
    tell(-static_cast<int64_t>(usable) - kBlockOverhead);
    std::free(block);
    throw std::bad_alloc();
  }
  if (usable >= kCountedBlock) heap.fetch_add(static_cast<int64_t>(usable), std::memory_order_relaxed);
  return block;
}

void give_back(void* block) {
  if (block == nullptr) return;
  const size_t usable = malloc_usable_size(block);
  tell(-static_cast<int64_t>(usable) - kBlockOverhead);
  if (usable >= kCountedBlock) heap.fetch_sub(static_cast<int64_t>(usable), std::memory_order_relaxed);
  std::free(block);
}

}  // namespace

int64_t memory_limit() {
  if (const int64_t bytes = chosen.load(std::memory_order_relaxed); bytes > 0) return bytes;
  return known_machine_limit() / 2;
}

int64_t resident_limit() {
  if (resident.load(std::memory_order_relaxed) == 0) set_resident_limit(0);
  return resident.load(std::memory_order_relaxed);
}

void set_resident_limit(int64_t bytes) {
  constexpr int64_t kUncounted = int64_t{64} << 20;
  const int64_t machine = known_machine_limit();
  if (bytes <= 0) bytes = std::max(machine / 2, machine - std::max(machine / 8, kUncounted));
  grace.store(0, std::memory_order_relaxed);
  resident.store(bytes, std::memory_order_relaxed);
}

int64_t resident_bytes() {
  return whole_heap.load(std::memory_order_relaxed) + untold + in_use.load(std::memory_order_relaxed);
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
  const int64_t limit = std::min(memory_limit() - counted_heap(),
                                 resident_limit() - whole_heap.load(std::memory_order_relaxed));
  // Added first, so that concurrent threads do not both get the last part; sums cannot overflow, as no share
  // exceeds the limit.
  if (bytes > limit || in_use.fetch_add(bytes, std::memory_order_relaxed) > limit - bytes) {
    if (bytes <= limit) in_use.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  bytes_ += bytes;
  return true;
}

MemoryShare::MemoryShare(int64_t bytes, const char* what) {
  if (take(bytes)) return;
  Error e(ErrorCode::kResource, fmt::format("{} takes {} bytes, but {} of {} bytes are in use", what, bytes,
                                            memory_in_use(), memory_limit()));
  throw set_remedy(e, Say::kMemoryLimit);
}

MemoryShare& MemoryShare::operator=(MemoryShare&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryShare::~MemoryShare() { in_use.fetch_sub(bytes_, std::memory_order_relaxed); }

}  // namespace assay

// All memory except tensors is allocated here (std::string, std::vector and so on): a small model may need
// any amount of it.
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
