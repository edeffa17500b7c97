// One block of memory for everything a context computes.
#pragma once

#include <cstddef>

#include "base/memory_limit.h"

namespace assay::engine {

/// Alignment of every buffer: a cache line, and the widest vector.
inline constexpr size_t kAlignment = 64;
constexpr size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Zeroed memory, aligned to kAlignment, a part of the process's budget; large blocks are asked to lie on
/// huge pages.
class Arena {
 public:
  /// Throws Error when the budget (kUnsupported) or the system (kInvalidArgument) refuses.
  explicit Arena(size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_;
  MemoryShare share_;
};

}  // namespace assay::engine
