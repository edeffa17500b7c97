// Finds constant values while a model is converted.
#pragma once

#include <optional>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// Follows Identity nodes, and caches the beginnings of chains, because every node after a long chain may
/// look it up. During its lifetime chains may only grow at both ends.
class ConstantFinder {
 public:
  /// The value of an initializer or of a Constant node; nothing otherwise.
  std::optional<Tensor> value(const Value* v);

 private:
  const Value* source(const Value* v);

  std::unordered_map<const Value*, const Value*> sources_;
};

}  // namespace assay
