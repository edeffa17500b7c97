// Logits in float64.
#pragma once

#include <memory>
#include <vector>

#include "generate/sequence.h"

namespace assay::generate {

struct ExactLogits {
  std::vector<double> exact;  ///< of the token behind the last one, [vocabulary]
  /// How far rounding in the declared types moves any of them.
  double explained = 0;
};

/// Evaluates a sequence from its beginning: in one step, or token by token where the model takes one only.
/// Throws Error where the model cannot be evaluated.
ExactLogits exact_logits(const std::shared_ptr<const Model>& model,
                         const std::shared_ptr<const Interface>& interface,
                         const std::vector<int64_t>& tokens);

}  // namespace assay::generate
