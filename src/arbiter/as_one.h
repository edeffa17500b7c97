// Nodes that a backend may have fused, although it outputs intermediate values.
#pragma once

#include <optional>
#include <string>

#include "arbiter/explained.h"
#include "arbiter/judgement.h"

namespace assay {

struct AsOne {
  Tensor exact;  ///< from the runner's own values before
  Explained explained;
  std::string note;
};

/// Evaluates the suspected node together with its predecessors, back to one common
/// source: the softmax, normalization or activation function that exporters write
/// as several nodes, and that backends have a kernel for. Only element-wise nodes,
/// reductions and moves of elements, up to 16. Returns the first, going back, for which
/// `explains` is true; none if there is none, or the runner's own values are unknown.
/// A constant may scale the whole.
std::optional<AsOne> computed_as_one(const SuspectNode& suspect, DType dtype,
                                     const std::function<bool(const AsOne&)>& explains);

/// An operation that rounds once, with operands that are products of the runner's own values and were not
/// rounded before, although they are handed out rounded: products in a sum (a fused multiply-add),
/// dequantized numbers (whose scale is applied afterwards). At each element what is nearest to the result,
/// and one rounding. None where no operand is such a product.
std::optional<AsOne> with_operands_unrounded(const SuspectNode& suspect, const Tensor& result, DType dtype);

}  // namespace assay
