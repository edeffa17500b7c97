// A model made ready for whatever shapes come.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <vector>

#include "engine/build/builder.h"
#include "engine/runtime/context.h"

namespace assay::engine {

/// Plans of a model by the shapes of its inputs, and where shapes depend on it by what small inputs hold, each with a context. The least
/// recently used go when there are more than kMaxContexts or when they take more memory than kMaxBytes; the last one always stays. What
/// does not depend on shapes is shared. Inputs that hold something else in most runs (a counter of a loop) are no longer looked at after
/// kMaxValueMisses plans for the same shapes: what hangs on them waits for its shapes in the run instead. Not thread-safe.
class Executable {
 public:
  static constexpr size_t kMaxContexts = 64;
  static constexpr size_t kMaxBytes = size_t{512} << 20;
  static constexpr int kMaxValueMisses = 4;

  /// The given model is not changed. Throws Error naming the node that breaks a rule.
  Executable(const Model& model, const BuildConfig& config);
  ~Executable();

  /// The context for these inputs, in the order of the model's; made when it is not there. Stays until the next call. Throws Error.
  Context& context_for(std::span<const Tensor> inputs);

  /// Makes the plan for inputs of these shapes ahead, where it does not depend on what they hold. Throws Error.
  void prepare(const std::vector<Shape>& shapes);

  const Builder& builder() const { return builder_; }
  size_t context_count() const { return entries_.size(); }

 private:
  /// What a plan was made for.
  struct Key {
    std::vector<Shape> shapes;
    std::vector<Tensor> values;  // of value_inputs_
  };
  struct Entry;
  static bool has_shapes(const Key& key, std::span<const Tensor> inputs);
  bool matches(const Key& key, std::span<const Tensor> inputs) const;

  Builder builder_;
  /// Inputs that decide about shapes by what they hold, as far as that is known: it comes out while plans are made.
  std::vector<size_t> value_inputs_;
  int value_misses_ = 0;
  bool ignores_values_ = false;
  std::list<Entry> entries_;  // the last used first
};

}  // namespace assay::engine
