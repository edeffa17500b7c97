// From a model to plans.
#pragma once

#include <memory>
#include <span>

#include "engine/build/lowering.h"

namespace assay::engine {

/// Makes plans of one model, one for each set of input shapes. What does not depend on shapes is done once,
/// and packed weights are shared between the plans.
class Builder {
 public:
  /// Brings the model into canonical form; the given one is not changed. Throws Error naming the node that
  /// breaks a rule.
  Builder(const Model& model, BuildConfig config);

  /// The plan for inputs of these shapes, in the order of the model's inputs; those of containers do not
  /// matter. Throws Error naming the node.
  std::shared_ptr<const Plan> build(std::span<const Shape> input_shapes);

  const BuildConfig& config() const { return config_; }

 private:
  BuildConfig config_;
  std::shared_ptr<Model> canonical_;
  ConstantCache cache_;
};

/// The configuration for this machine: its blocks, and `threads` threads (0: the CPUs this process may use).
BuildConfig default_config(int threads);

}  // namespace assay::engine
