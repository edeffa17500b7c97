// The memory budget of the process, for tensors and all other allocations of evaluations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

/// The message for a std::bad_alloc that ends an operation.
inline constexpr std::string_view kOutOfMemory =
    "Out of memory: what the machine, the control group or the memory limit allows is used up. Smaller "
    "inputs or fewer marked outputs need less.";

/// The limit of bytes of all live tensors: half of the memory of the machine, or half of the limit of the
/// process or its control group if that is less. Requests beyond it are refused before anything is allocated,
/// because Linux overcommits memory and kills the process when it is touched. Mapped files do not count:
/// their pages can be read again.
int64_t memory_limit();
/// Replaces it; 0 restores the machine's. Live tensors are kept.
void set_memory_limit(int64_t bytes);

/// Bytes of the budget in use: by tensors, and by heap blocks (strings, lists, scratch memory) beyond the
/// free allowance.
int64_t memory_in_use();
/// The remaining bytes; never negative.
int64_t memory_left();

/// Smaller heap blocks do not count: code that
/// allocates many has a larger one that lists them.
inline constexpr size_t kCountedBlock = 256;
/// The free allowance of the heap, or the live bytes at forgive_heap() if that is more: models in memory are
/// as large as their files.
inline constexpr int64_t kFreeHeap = int64_t{256} << 20;
void forgive_heap();

/// For its lifetime limits additional use to
/// `bytes`. For one evaluating thread at a time.
class MemoryCeiling {
 public:
  explicit MemoryCeiling(int64_t bytes);
  ~MemoryCeiling();
  MemoryCeiling(const MemoryCeiling&) = delete;
  MemoryCeiling& operator=(const MemoryCeiling&) = delete;

 private:
  int64_t before_;
};

/// Reserves a part of the budget for its lifetime.
class MemoryShare {
 public:
  MemoryShare() = default;
  /// Throws Error (kUnsupported), naming `what`, when less is left.
  MemoryShare(int64_t bytes, const char* what);
  MemoryShare(MemoryShare&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = 0; }
  MemoryShare& operator=(MemoryShare&& other) noexcept;
  ~MemoryShare();

  /// Reserves `bytes` if they are left; returns whether it did.
  bool take(int64_t bytes) noexcept;

 private:
  int64_t bytes_ = 0;
};

}  // namespace assay
