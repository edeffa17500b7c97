// Runners made up for tests.
#pragma once

#include <random>
#include <string>
#include <utility>

#include "compare/accuracy.h"
#include "compare/outputs.h"

namespace assay {

/// numpy.random.RandomState.
class NumPyRandom {
 public:
  explicit NumPyRandom(uint32_t seed) : bits_(seed) {}
  /// random_sample(shape).astype(float32).
  Tensor sample(Shape shape) {
    Tensor t = Tensor::allocate(DType::kFloat32, std::move(shape));
    for (float& x : t.mutable_span<float>()) {
      const double high = bits_() >> 5, low = bits_() >> 6;
      x = static_cast<float>((high * 67108864 + low) / 9007199254740992);
    }
    return t;
  }

 private:
  std::mt19937 bits_;
};

inline std::shared_ptr<const OutputSource> outputs(std::string runner, TensorList list) {
  return std::make_shared<OutputList>(std::move(runner), std::move(list));
}

inline RunnerOutputs one_iteration(const std::string& runner, TensorList list) {
  return {runner, {outputs(runner, std::move(list))}};
}

/// Compares iterations output by output. The comparison has to outlive the result.
inline CompareIteration compare_with(const Comparison& comparison, bool fail_fast = false) {
  return [&comparison, fail_fast](const OutputSource& a, const OutputSource& b) {
    return compare_outputs(comparison, a, b, fail_fast);
  };
}

}  // namespace assay
