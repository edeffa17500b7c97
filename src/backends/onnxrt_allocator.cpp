#include "backends/onnxrt_allocator.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/nameless_file.h"
#include "base/resident_memory.h"

namespace assay::ort {
namespace {

/// Smaller blocks come from malloc.
constexpr size_t kLarge = size_t{1} << 18;
constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
/// Large blocks beyond this are in the file.
constexpr size_t kInMemory = size_t{256} << 20;

/// Large blocks, kept for the next request of the same size when they are freed.
class Blocks {
 public:
  void* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const size_t size = whole_pages(bytes);
    if (auto it = free_.find(size); it != free_.end()) {
      void* p = it->second;
      free_.erase(it);
      return p;
    }
    return map(size);
  }

  /// False: it is not one of these.
  bool give_back(void* p) {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(p);
    if (it == blocks_.end()) return false;
    free_.emplace(it->second.size, p);
    return true;
  }

  void release_unused() {
    const std::lock_guard lock(mutex_);
    for (const auto& [size, p] : free_) {
      const auto it = blocks_.find(p);
      const bool in_file = it->second.in_file != nullptr;
      const size_t offset = it->second.offset;
      blocks_.erase(it);
      ::munmap(p, size);
      if (in_file)
        file_->punch(offset, size);
      else
        in_memory_ -= size;
    }
    free_.clear();
  }

 private:
  struct Block {
    size_t size;
    size_t offset;                              // in the file
    std::unique_ptr<ReclaimableRange> in_file;  // null: in memory
  };

  void* map(size_t size) {
    if (in_memory_ + size > kInMemory) return map_file(size);
    void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(p != MAP_FAILED, ErrorCode::kIo, "the system refuses {} bytes", size);
    // Advice only: without huge pages everything still works.
    if (size >= kHugePage) ::madvise(p, size, MADV_HUGEPAGE);
    in_memory_ += size;
    blocks_[p] = {size, 0, nullptr};
    return p;
  }

  void* map_file(size_t size) {
    if (!file_) file_ = std::make_unique<NamelessFile>();
    // Allocates the space now: a full disk is an error here, but a signal when a page is written.
    const int refused = ::posix_fallocate(file_->fd(), static_cast<off_t>(end_), static_cast<off_t>(size));
    if (refused != 0)
      file_->fail_with(fmt::format("keep {} bytes of tensors in a temporary file", size), refused);
    void* p =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_->fd(), static_cast<off_t>(end_));
    if (p == MAP_FAILED) file_->fail_with(fmt::format("map {} bytes of a temporary file", size), errno);
    blocks_[p] = {size, end_, std::make_unique<ReclaimableRange>(p, size)};
    end_ += size;
    return p;
  }

  std::mutex mutex_;
  std::unique_ptr<NamelessFile> file_;
  size_t in_memory_ = 0, end_ = 0;  // bytes on either side
  std::unordered_map<void*, Block> blocks_;
  std::multimap<size_t, void*> free_;
};

/// Has the prefix of ONNX Runtime's struct OrtAllocator.
struct SpillingAllocator {
  uint32_t version = kApiVersion;
  void* (*alloc)(SpillingAllocator*, size_t);
  void (*free)(SpillingAllocator*, void*);
  const MemoryInfo* (*info)(const SpillingAllocator*);
  const MemoryInfo* memory_info = nullptr;
  Blocks blocks;
};

/// The allocators of all environments; there is one for each loaded library.
std::vector<SpillingAllocator*>& allocators() {
  static auto* const list = new std::vector<SpillingAllocator*>;
  return *list;
}

void* allocate(SpillingAllocator* a, size_t bytes) {
  if (bytes == 0) return nullptr;
  try {
    if (bytes >= kLarge) return a->blocks.take(bytes);
  } catch (const std::exception&) {
    return nullptr;  // ONNX Runtime reports the lack of memory
  }
  return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

void release(SpillingAllocator* a, void* p) {
  if (p != nullptr && !a->blocks.give_back(p)) std::free(p);
}

}  // namespace

Status* register_spilling_allocator(const Api* api, Env* env) {
  MemoryInfo* info = nullptr;
  if (Status* status = create_cpu_memory_info(api, kDeviceAllocator, kDefaultMemory, &info);
      status != nullptr)
    return status;
  auto* a = new SpillingAllocator;  // lives as long as the environment: until the process ends
  a->alloc = allocate;
  a->free = release;
  a->info = [](const SpillingAllocator* self) { return self->memory_info; };
  a->memory_info = info;
  allocators().push_back(a);
  return register_allocator(api, env, reinterpret_cast<Allocator*>(a));
}

void release_unused_blocks() {
  for (SpillingAllocator* a : allocators()) a->blocks.release_unused();
}

}  // namespace assay::ort
