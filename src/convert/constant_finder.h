// What constants values are, while a model is converted.
#pragma once

#include <optional>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// Looks through Identity nodes, and remembers where chains of them begin: every node behind a long one may
/// ask. Chains may grow at both ends while it lives; otherwise Identity nodes stay what they are.
class ConstantFinder {
 public:
  /// The value of an initializer or of a Constant node; nothing otherwise.
  std::optional<Tensor> value(const Value* v);

 private:
  const Value* source(const Value* v);

  std::unordered_map<const Value*, const Value*> sources_;
};

}  // namespace assay
