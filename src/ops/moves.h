// Operators that move elements.
#pragma once

#include "ops/op_def.h"

namespace assay {

/// Whether it moves elements of any type, or takes them from the node: then floats may be passed as stored,
/// in any type but all in one, and come out in that.
inline bool moves_elements(const OpDef& op) {
  return op.facts.reads_no_numbers() && op.types == EvalTypes::kAsStored;
}

}  // namespace assay
