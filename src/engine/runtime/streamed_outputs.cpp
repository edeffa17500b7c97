#include "engine/runtime/streamed_outputs.h"

#include <algorithm>

namespace assay::engine {
namespace {

/// Blocks that are kept.
constexpr size_t kMaxBlocks = 256;

}  // namespace

std::shared_ptr<Arena> OutputBlocks::take(size_t bytes) noexcept {
  std::shared_ptr<Arena>* best = nullptr;
  for (auto& block : blocks_) {
    if (block.use_count() > 1 || block->size() < bytes || block->size() > 2 * bytes + 4096) continue;
    if (best == nullptr || block->size() < (*best)->size()) best = &block;
  }
  if (best != nullptr) return *best;
  try {
    // What did not fit this time is unlikely to fit again.
    std::erase_if(blocks_, [](const auto& block) { return block.use_count() == 1; });
    auto block = std::make_shared<Arena>(std::max<size_t>(bytes, 1));
    if (blocks_.size() < kMaxBlocks) blocks_.push_back(block);
    return block;
  } catch (const std::exception&) {
    return nullptr;
  }
}

void* StreamedOutputs::memory(size_t i, size_t bytes) noexcept {
  blocks_[i] = pool_.take(bytes);
  return blocks_[i] != nullptr ? blocks_[i]->data() : nullptr;
}

template <typename Make>
void StreamedOutputs::deliver(size_t i, Make make) noexcept {
  if (failure_) return;
  watch_.pause();
  try {
    sink_(i, make());
  } catch (...) {
    failure_ = std::current_exception();
  }
  watch_.resume();
}

void StreamedOutputs::finished(size_t i) noexcept {
  const PlanValue& v = plan_.values[static_cast<size_t>(plan_.outputs[i])];
  deliver(i, [&] { return Tensor::view(v.dtype, v.shape, blocks_[i]->data(), blocks_[i]); });
}

void StreamedOutputs::computed(size_t i, const Tensor& tensor) noexcept {
  deliver(i, [&] { return tensor; });
}

}  // namespace assay::engine
