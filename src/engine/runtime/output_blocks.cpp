#include "engine/runtime/output_blocks.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace assay::engine {
namespace {

/// Blocks that are kept.
constexpr size_t kMaxBlocks = 256;
/// An output that grows from run to run, as a cache does, gets this part more than it needs.
constexpr size_t kRoom = 4;

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
    auto block = std::make_shared<Arena>(std::max<size_t>(grows ? bytes + bytes / kRoom : bytes, 1));
    if (blocks_.size() < kMaxBlocks) blocks_.push_back(block);
    return block;
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace assay::engine
