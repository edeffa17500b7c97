// Outputs of a run as new tensors.
#pragma once

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "engine/runtime/context.h"
#include "engine/runtime/output_blocks.h"

namespace assay::engine {

/// Makes a tensor for each output of a plan, which outlives it.
class TensorOutputs final : public OutputBinding {
 public:
  /// `blocks`: where large ones come from; they cannot be written then. Null: all are allocated.
  explicit TensorOutputs(const Plan& plan, OutputBlocks* blocks = nullptr)
      : plan_(plan), pool_(blocks), tensors_(plan.outputs.size()) {}

  void* memory(size_t i, size_t bytes) noexcept override {
    try {
      const PlanValue& v = plan_.values[static_cast<size_t>(plan_.outputs[i])];
      if (pool_ != nullptr && bytes >= kLargeOutput) {
        const std::shared_ptr<Arena> block = pool_->take(i, bytes);
        if (block == nullptr) return nullptr;
        tensors_[i] = Tensor::view(v.dtype, v.shape, block->data(), block);
        return block->data();
      }
      tensors_[i] = Tensor::allocate(v.dtype, v.shape);
      return tensors_[i].mutable_data();
    } catch (const std::exception&) {
      return nullptr;
    }
  }
  void finished(size_t) noexcept override {}
  void released(size_t) noexcept override {}
  void computed(size_t i, const Tensor& tensor) noexcept override { tensors_[i] = tensor; }

  std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  /// The system clears every page that it hands out, which takes longer than writing it.
  static constexpr size_t kLargeOutput = size_t{64} << 10;

  const Plan& plan_;
  OutputBlocks* pool_;
  std::vector<Tensor> tensors_;
};

}  // namespace assay::engine
