// Nodes that a backend may have computed as one, although it hands out what lies between them.
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

/// What the suspected node gives together with those before it, back to one value that all of them are made
/// of: the softmax, normalisation or activation function that exporters write as many nodes, and that
/// backends have a kernel for. Only element-wise nodes, reductions and what moves elements, up to 16. The
/// first, going back, for which `explains` is true; none where there is none, or the runner's own values are
/// not known.
std::optional<AsOne> computed_as_one(const SuspectNode& suspect, DType dtype,
                                     const std::function<bool(const AsOne&)>& explains);

}  // namespace assay
