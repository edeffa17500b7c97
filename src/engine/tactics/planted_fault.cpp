// For tests only: makes a value slightly wrong where it lies. The builder adds this step behind the node that
// SessionOptions::planted_fault names; it proves that a wrong kernel is found and named.
#include <algorithm>

#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

constexpr float kFactor = 1.001F;

/// Multiplies the first quarter (at least one) of the memory's elements.
class FaultKernel final : public Kernel {
 public:
  explicit FaultKernel(int64_t elements) : elements_(elements) {}
  Status run(const KernelArgs& args) noexcept override {
    float* x = static_cast<float*>(args.outputs[0]);
    const auto* from = static_cast<const float*>(args.inputs[0]);
    const int64_t wrong = std::max<int64_t>(1, elements_ / 4);
    for (int64_t i = 0; i < elements_; ++i) x[i] = i < wrong ? from[i] * kFactor : from[i];
    return Status::kOk;
  }

 private:
  int64_t elements_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<FaultKernel>(
      static_cast<int64_t>(plan.values[static_cast<size_t>(step.outputs[0])].bytes() / sizeof(float)));
}

}  // namespace

constinit const TacticDef tactic_planted_fault = {
    .name = "planted_fault",
    .numerics = NumericsClass::kLowered,
    .factory = {.create = create},
};

}  // namespace assay::engine
