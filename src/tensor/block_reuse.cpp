#include "tensor/block_reuse.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "base/memory_limit.h"

namespace assay {
namespace {

/// Smaller ones come from the heap's own lists.
constexpr size_t kLargeBlock = size_t{128} << 10;

using internal::Block;

struct Kept {
  std::mutex mutex;
  std::atomic<int> users = 0;
  int64_t most = 0, bytes = 0;
  std::vector<Block> blocks;  ///< those that were given back first at the front

  void forget(size_t i) {
    bytes -= static_cast<int64_t>(blocks[i].bytes);
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
  }
};

Kept& kept() {
  static Kept* const all = new Kept;  // tensors may outlive everything else
  return *all;
}

}  // namespace

BlockReuse::BlockReuse(int64_t most_bytes) {
  Kept& k = kept();
  const std::lock_guard lock(k.mutex);
  k.most = std::max(k.most, std::min(most_bytes, memory_limit() / 8));
  ++k.users;
}

BlockReuse::~BlockReuse() {
  Kept& k = kept();
  const std::lock_guard lock(k.mutex);
  if (--k.users > 0) return;
  for (const Block& block : k.blocks) std::free(block.data);
  k.blocks.clear();
  k.bytes = k.most = 0;
}

namespace internal {

Block take_block(size_t bytes) {
  Kept& k = kept();
  if (k.users == 0 || bytes < kLargeBlock) return {};
  const std::lock_guard lock(k.mutex);
  for (size_t i = k.blocks.size(); i-- > 0;) {
    const Block found = k.blocks[i];
    if (found.bytes < bytes || found.bytes > bytes + bytes / 4) continue;
    k.forget(i);
    return found;
  }
  return {};
}

void return_block(Block block) {
  Kept& k = kept();
  if (k.users == 0 || block.bytes < kLargeBlock) return std::free(block.data);
  const std::lock_guard lock(k.mutex);
  const auto bytes = static_cast<int64_t>(block.bytes);
  if (k.users == 0 || bytes > k.most) return std::free(block.data);
  while (k.bytes + bytes > k.most) {
    std::free(k.blocks.front().data);
    k.forget(0);
  }
  try {
    k.blocks.push_back(block);
    k.bytes += bytes;
  } catch (const std::bad_alloc&) {
    std::free(block.data);
  }
}

}  // namespace internal
}  // namespace assay
