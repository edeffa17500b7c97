// Fake runners for tests.
#pragma once

#include <random>
#include <string>
#include <utility>

#include "compare/accuracy.h"
#include "console/comparison_text.h"

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

/// All iterations of one runner.
struct RunnerOutputs {
  std::string runner_name;
  std::vector<std::shared_ptr<const OutputSource>> iterations;
};

inline std::shared_ptr<const OutputSource> outputs(std::string runner, TensorList list) {
  return std::make_shared<OutputList>(std::move(runner), std::move(list));
}

inline RunnerOutputs one_iteration(const std::string& runner, TensorList list) {
  return {runner, {outputs(runner, std::move(list))}};
}

/// Prints a comparison of as many iterations as all runners have, with the summaries.
inline std::vector<PairSummary> print_accuracy(const std::vector<RunnerOutputs>& results,
                                               AccuracyOptions options, const std::string& notes = {}) {
  ComparisonText text;
  AccuracyComparison accuracy(std::move(options), text);
  for (size_t i = 0;; ++i) {
    std::vector<std::shared_ptr<const OutputSource>> iteration;
    for (const RunnerOutputs& r : results)
      if (i < r.iterations.size()) iteration.push_back(r.iterations[i]);
    if (iteration.size() < results.size()) break;
    if (!accuracy.add(iteration)) return accuracy.summaries();
  }
  for (const PairSummary& pair : accuracy.summaries()) print_summary(pair, Aggregation::kPerSample, notes);
  return accuracy.summaries();
}

/// Prints the comparison of one iteration of the runners A and B.
inline PairResult print_comparison(std::shared_ptr<const Comparison> function, TensorList a, TensorList b,
                                   CompareOptions options = {}) {
  ComparisonText text;
  const std::vector<std::shared_ptr<const Comparison>> functions = {std::move(function)};
  return compare_iteration(functions, OutputList("A", std::move(a)), OutputList("B", std::move(b)), options,
                           text);
}

/// Prints defects of outputs; true when there are none.
inline bool print_validations(const std::vector<RunnerOutputs>& results, const ValidateOptions& options) {
  bool valid = true;
  for (const RunnerOutputs& r : results)
    for (const auto& iteration : r.iterations)
      for (size_t i = 0; i < iteration->names().size(); ++i) {
        const Tensor output = iteration->load(i);
        const ValidationResult found = validate_output(r.runner_name, iteration->names()[i], output, options);
        print_validation(found, output, options, -1);
        valid &= found.valid();
      }
  return valid;
}

}  // namespace assay
