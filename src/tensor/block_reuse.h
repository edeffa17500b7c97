// Memory of tensors that is used again, for work that makes and forgets many of the same sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

/// While one is alive, large blocks that tensors give back are kept for the next ones: the system clears
/// every page that it hands out, which takes longer than to write it. What is kept does not count as memory
/// in use, and is at most `most_bytes` (the largest of several alive), and no more than an eighth of
/// memory_limit().
class BlockReuse {
 public:
  explicit BlockReuse(int64_t most_bytes = int64_t{256} << 20);
  ~BlockReuse();
  BlockReuse(const BlockReuse&) = delete;
  BlockReuse& operator=(const BlockReuse&) = delete;
};

namespace internal {
struct Block {
  void* data = nullptr;
  size_t bytes = 0;
};
/// A kept block of this size, or up to a quarter larger; none when there is none.
Block take_block(size_t bytes);
/// Keeps the block, in place of those that have been kept longest, or frees it.
void return_block(Block block);
}  // namespace internal

}  // namespace assay
