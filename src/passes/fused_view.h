// Reading a Fused region, or the plain node it could have been: what the main node is, what happens to its
// inputs, and what happens to its result.
#pragma once

#include <optional>
#include <vector>

#include "assay/graph.h"
#include "passes/pointwise_form.h"

namespace assay {

/// One pointwise instruction on the result. The operand that is not the running result, if any, is an input
/// of the region or node.
struct EpilogueStep {
  PointwiseForm form;
  const Node* node = nullptr;
  Value* operand = nullptr;  ///< of the body; null for unary instructions
};

struct FusedView {
  const Node* main = nullptr;
  /// Transpose nodes on input 0 and 1 of the main node; null when there is none.
  const Node* transposed[2] = {nullptr, nullptr};
  std::vector<EpilogueStep> epilogue;
  /// A Transpose of the final result; null when there is none.
  const Node* result_transposed = nullptr;
};

/// True for the operators that a Fused region may be built around.
bool is_main_operator(const Node& n);

/// The parts of a Fused region or of a bare main node; nothing when it is neither.
std::optional<FusedView> view_fused(const Node& n);

/// The instruction that `n` applies to `running`, which must be its first operand unless the instruction is
/// commutative; nothing when it is none that an epilogue may hold.
std::optional<EpilogueStep> epilogue_step(const Node& n, const Value* running);

}  // namespace assay
