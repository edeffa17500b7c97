// Attention as exporters write it: a product of queries and keys, scaled and masked, a softmax, a product
// with the values; and the transpositions, reshapes, slices and factors around it that only determine
// addressing.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "assay/graph.h"
#include "kernels/attention/attention.h"
#include "passes/patch.h"

namespace assay::engine {

/// An operand of it: a value in row-major memory, and the element at which it begins.
struct AttentionOperand {
  Value* value = nullptr;
  int64_t offset = 0;
};

struct AttentionForm {
  kernels::Attention problem;
  AttentionOperand query, key, value;
  std::vector<Value*> masks;       ///< one for each of problem.masks
  std::vector<const Node*> nodes;  ///< each once, in no order; what leaves is the result of the last of them
  const Node* softmax = nullptr;
};

/// The attention that this Softmax, or region of one, belongs to; nothing when there is none with known
/// shapes. Includes only nodes with `may_take`, and none whose result is used outside.
std::optional<AttentionForm> find_attention(const Node& softmax, const PassContext& context,
                                            const std::function<bool(const Node&)>& may_take);

}  // namespace assay::engine
