// Memory of tensors that is used again, for work that makes and forgets many.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

/// While one is alive, large blocks that tensors give back are kept for the next ones, whatever their sizes:
/// the system clears every page that it hands out, which takes longer than to write it. What is kept does not
/// count as memory in use, and is at most `most_bytes` (the largest of several alive), and no more than an
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
/// Takes a block of take_block back; `bytes` as they were asked for.
void return_block(void* block, size_t bytes);
/// Bytes that are kept and may hold memory of the system.
int64_t kept_bytes();
}  // namespace internal

}  // namespace assay
