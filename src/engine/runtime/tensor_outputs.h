// Outputs of a run as new tensors.
#pragma once

#include <exception>
#include <utility>
#include <vector>

#include "engine/runtime/context.h"

namespace assay::engine {

/// Allocates a tensor for each output of a plan, which outlives it.
class TensorOutputs final : public OutputBinding {
 public:
  explicit TensorOutputs(const Plan& plan) : plan_(plan), tensors_(plan.outputs.size()) {}

  void* memory(size_t i, size_t) noexcept override {
    try {
      const PlanValue& v = plan_.values[static_cast<size_t>(plan_.outputs[i])];
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
  const Plan& plan_;
  std::vector<Tensor> tensors_;
};

}  // namespace assay::engine
