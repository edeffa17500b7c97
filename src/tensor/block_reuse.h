// Reuse of tensor memory, for work that creates and destroys many tensors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

/// For its lifetime large blocks of destroyed tensors are kept for new ones of any size: the system clears
/// every page that it hands out, which takes longer than writing it. Kept blocks do not count as memory in
/// use, and are at most `most_bytes` (the largest of several alive), and no more than an
/// eighth of memory_limit(). Tensors may outlive it.
class BlockReuse {
 public:
  explicit BlockReuse(int64_t most_bytes = int64_t{256} << 20);
  ~BlockReuse();
  BlockReuse(const BlockReuse&) = delete;
  BlockReuse& operator=(const BlockReuse&) = delete;
};

namespace internal {
/// A block of at least this size, aligned to pages; null where none is handed out: for small ones, and while
/// no BlockReuse is alive.
void* take_block(size_t bytes);
/// Returns a block of take_block(); `bytes` as requested.
void return_block(void* block, size_t bytes);
/// Bytes in kept blocks that may be backed by memory.
int64_t kept_bytes();
}  // namespace internal

}  // namespace assay
