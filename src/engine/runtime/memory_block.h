// Memory for a context's values, allocated by a target.
#pragma once

#include <cstddef>

namespace assay::engine {

/// Alignment of every buffer: a cache line, and the widest vector.
inline constexpr size_t kAlignment = 64;
constexpr size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Zeroed, aligned to kAlignment, a part of the process's budget.
class MemoryBlock {
 public:
  virtual ~MemoryBlock() = default;
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  /// Null for a block of no bytes.
  char* data() const { return data_; }
  /// At least the requested size.
  size_t size() const { return size_; }

 protected:
  explicit MemoryBlock(size_t size) : size_(size) {}

  char* data_ = nullptr;
  size_t size_;
};

}  // namespace assay::engine
