// Nodes that a backend may have computed as one, although it hands out what lies between them.
#pragma once

#include <optional>
#include <string>

#include "arbiter/excuses.h"

namespace assay {

struct AsOne {
  Tensor exact;  ///< from the runner's own values before
  Explained explained;
  std::string note;
};

/// What the suspected node gives together with those before it, back to one value that all of them are made
/// of: the softmax, normalisation or activation function that exporters write as many nodes, and that
/// backends have a kernel for. Only element-wise nodes, reductions and what moves elements, up to 16. The
/// first, going back, for which `explains` is true; none where there is none, or the runner's own values are
/// not known. A constant may scale the whole.
std::optional<AsOne> computed_as_one(const SuspectNode& suspect, DType dtype,
                                     const std::function<bool(const AsOne&)>& explains);

/// A sum or difference one of whose operands is a product of the runner's own values that was not rounded
/// before it was added (a fused multiply-add), although it is handed out rounded: at each element what is
/// nearest to the result, and one rounding. None where no operand is such a product.
std::optional<AsOne> with_product_unrounded(const SuspectNode& suspect, const Tensor& result, DType dtype);

}  // namespace assay
