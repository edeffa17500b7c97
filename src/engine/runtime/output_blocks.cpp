#include "engine/runtime/output_blocks.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "assay/error.h"

namespace assay::engine {
namespace {

/// Blocks that are kept.
constexpr size_t kMaxBlocks = 256;
/// An output that grows from run to run, as a cache does, gets this part more than it needs.
constexpr size_t kRoom = 4;

/// With room to grow, unless the memory for that is refused.
std::shared_ptr<Arena> make_block(size_t bytes, bool grows) {
  if (grows) try {
      return std::make_shared<Arena>(bytes + bytes / kRoom);
    } catch (const Error&) {
      // There may be as much as is needed.
    }
  return std::make_shared<Arena>(std::max<size_t>(bytes, 1));
}

}  // namespace

bool OutputBlocks::has_grown(size_t output, size_t bytes) {
  if (output >= last_.size()) last_.resize(output + 1);
  const size_t before = std::exchange(last_[output], bytes);
  return before < bytes && before >= bytes / 2;
}

std::shared_ptr<Arena> OutputBlocks::take(size_t output, size_t bytes) noexcept {
  std::shared_ptr<Arena>* best = nullptr;
  for (auto& block : blocks_) {
    if (block.use_count() > 1 || block->size() < bytes || block->size() > 2 * bytes + 4096) continue;
    if (best == nullptr || block->size() < (*best)->size()) best = &block;
  }
  try {
    const bool grows = has_grown(output, bytes);
    if (best != nullptr) return *best;
    // What did not fit this time is unlikely to fit again.
    std::erase_if(blocks_, [](const auto& block) { return block.use_count() == 1; });
    std::shared_ptr<Arena> block = make_block(bytes, grows);
    if (blocks_.size() < kMaxBlocks) blocks_.push_back(block);
    return block;
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace assay::engine
