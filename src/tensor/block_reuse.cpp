#include "tensor/block_reuse.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "base/memory_limit.h"

namespace assay {
namespace {

/// Smaller blocks come from the heap.
constexpr size_t kLargeBlock = size_t{128} << 10;
constexpr size_t kBlockUnit = 4096, kChunkUnit = size_t{2} << 20;
/// Minimum size of a request to the system. Untouched pages cost nothing.
constexpr size_t kChunk = size_t{32} << 20;

using Address = uintptr_t;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Free ranges within chunks of the system's memory: split on allocation, merged with their neighbours on
/// release.
class Pool {
 public:
  std::atomic<int> users = 0;

  void open(int64_t most) {
    const std::lock_guard lock(mutex_);
    most_ = std::max(most_, most);
    ++users;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--users > 0) return;
    most_ = 0;
    for (auto chunk = chunks_.begin(); chunk != chunks_.end();) chunk = unmap_if_free(chunk);
    for (const auto& [begin, range] : free_) let_go(begin, range.bytes);
    for (auto& [begin, range] : free_) range.written = 0;
    written_ = 0;
  }

  void* take(size_t bytes) {
    bytes = rounded_up(bytes, kBlockUnit);
    const std::lock_guard lock(mutex_);
    if (users == 0) return nullptr;
    auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {
      if (!add_chunk(bytes)) return nullptr;
      fit = by_size_.lower_bound({bytes, 0});
    }
    const Address begin = fit->second;
    const Range whole = free_.at(begin);
    erase(begin);
    // Prefers ranges that were written before, whose pages exist.
    const size_t written = std::min(bytes, whole.written);
    if (whole.bytes > bytes) insert(begin + bytes, {whole.bytes - bytes, whole.written - written});
    return reinterpret_cast<void*>(begin);
  }

  void give_back(void* block, size_t bytes) {
    bytes = rounded_up(bytes, kBlockUnit);
    const auto begin = reinterpret_cast<Address>(block);
    const std::lock_guard lock(mutex_);
    auto chunk = std::prev(chunks_.upper_bound(begin));
    Range range{bytes, bytes};
    if (written_ + bytes > static_cast<size_t>(most_)) let_go(begin, bytes), range.written = 0;
    Address from = begin;
    if (const auto next = free_.find(begin + bytes); next != free_.end() && begin + bytes < chunk->second)
      range.add(next->second), erase(begin + bytes);
    if (const auto after = free_.upper_bound(begin); after != free_.begin()) {
      const auto before = std::prev(after);
      if (before->first >= chunk->first && before->first + before->second.bytes == begin) {
        from = before->first;
        range.add(before->second);
        erase(from);
      }
    }
    insert(from, range);
    if (users == 0 || range.written == 0) unmap_if_free(chunk);
  }

  int64_t kept() {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(written_);
  }

 private:
  struct Range {
    size_t bytes = 0;
    size_t written = 0;  ///< leading bytes that are backed by memory (an estimate)
    void add(const Range& other) { bytes += other.bytes, written += other.written; }
  };
  using Chunks = std::map<Address, Address>;  // begin and end

  void insert(Address begin, Range range) {
    free_.emplace(begin, range);
    by_size_.emplace(range.bytes, begin);
    written_ += range.written;
  }
  void erase(Address begin) {
    const auto it = free_.find(begin);
    by_size_.erase({it->second.bytes, begin});
    written_ -= it->second.written;
    free_.erase(it);
  }
  static void let_go(Address begin, size_t bytes) {
    ::madvise(reinterpret_cast<void*>(begin), bytes, MADV_DONTNEED);
  }
  bool add_chunk(size_t bytes) {
    const size_t size = std::max(kChunk, rounded_up(bytes, kChunkUnit));
    if (size < bytes) return false;
    // Huge pages begin at their multiples: advice only, without them everything still works.
    void* p = ::mmap(nullptr, size + kChunkUnit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return false;
    const auto mapped = reinterpret_cast<Address>(p);
    const Address begin = rounded_up(mapped, kChunkUnit), end = begin + size;
    if (begin > mapped) ::munmap(p, begin - mapped);
    if (mapped + size + kChunkUnit > end)
      ::munmap(reinterpret_cast<void*>(end), mapped + size + kChunkUnit - end);
    ::madvise(reinterpret_cast<void*>(begin), size, MADV_HUGEPAGE);
    chunks_.emplace(begin, end);
    insert(begin, {size, 0});
    return true;
  }
  Chunks::iterator unmap_if_free(Chunks::iterator chunk) {
    const auto [begin, end] = *chunk;
    const auto range = free_.find(begin);
    if (range == free_.end() || range->second.bytes != end - begin) return std::next(chunk);
    erase(begin);
    ::munmap(reinterpret_cast<void*>(begin), end - begin);
    return chunks_.erase(chunk);
  }

  std::mutex mutex_;
  int64_t most_ = 0;
  size_t written_ = 0;
  Chunks chunks_;
  std::map<Address, Range> free_;
  std::set<std::pair<size_t, Address>> by_size_;
};

Pool& pool() {
  static Pool* const all = new Pool;  // never destroyed: tensors may outlive other statics
  return *all;
}

}  // namespace

BlockReuse::BlockReuse(int64_t most_bytes) { pool().open(std::min(most_bytes, memory_limit() / 8)); }
BlockReuse::~BlockReuse() { pool().close(); }

namespace internal {

void* take_block(size_t bytes) {
  if (pool().users == 0 || bytes < kLargeBlock) return nullptr;
  return pool().take(bytes);
}

void return_block(void* block, size_t bytes) { pool().give_back(block, bytes); }

int64_t kept_bytes() { return pool().kept(); }

}  // namespace internal
}  // namespace assay
