// How much memory tensors and all else that evaluations ask for may take: one budget for the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

/// What is said of a std::bad_alloc that ends an operation.
inline constexpr std::string_view kOutOfMemory =
    "Out of memory: what the machine, the control group or the memory limit allows is used up. Smaller "
    "inputs or fewer marked outputs need less.";

/// Bytes that all tensors that are alive may take together: half of the memory of the machine, or half of
/// what the process or its control group may have where that is less. What asks for more is refused before
/// anything is allocated, because Linux hands out memory that it does not have and kills the process when it
/// is touched. Mapped files do not count: their pages can be had again.
int64_t memory_limit();
/// Replaces it; 0 brings back the machine's. What is alive stays.
void set_memory_limit(int64_t bytes);

/// Bytes of the budget that are taken now: by tensors, and by blocks of the heap (strings, lists, room to
/// compute in) as far as those are more than the free part.
int64_t memory_in_use();
/// What is left of it; never negative.
int64_t memory_left();

/// Blocks of the heap that are smaller do not count: what asks for many of them has a larger one that lists
/// them.
inline constexpr size_t kCountedBlock = 256;
/// So much of the heap is free, or what is alive when forgive_heap() is called, where that is more: models in
/// memory are as large as their files are.
inline constexpr int64_t kFreeHeap = int64_t{256} << 20;
void forgive_heap();

/// For as long as it lives, no more than `bytes` may be taken beside what is in use when it begins. For one
/// thread that evaluates at a time.
class MemoryCeiling {
 public:
  explicit MemoryCeiling(int64_t bytes);
  ~MemoryCeiling();
  MemoryCeiling(const MemoryCeiling&) = delete;
  MemoryCeiling& operator=(const MemoryCeiling&) = delete;

 private:
  int64_t before_;
};

/// A part of the budget, taken for as long as the object lives.
class MemoryShare {
 public:
  MemoryShare() = default;
  /// Throws Error (kUnsupported), naming `what` asks for it, when less is left.
  MemoryShare(int64_t bytes, const char* what);
  MemoryShare(MemoryShare&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = 0; }
  MemoryShare& operator=(MemoryShare&& other) noexcept;
  ~MemoryShare();

  /// Takes `bytes` if they are left; says whether.
  bool take(int64_t bytes) noexcept;

 private:
  int64_t bytes_ = 0;
};

}  // namespace assay
