#include "engine/runtime/streamed_outputs.h"

namespace assay::engine {
void* StreamedOutputs::memory(size_t i, size_t bytes) noexcept {
  blocks_[i] = pool_.take(i, bytes);
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
