// Holds products in 8 bits to the quantized values that their engine declares.
#pragma once

#include "arbiter/judgement.h"

namespace assay {

/// A result that rounding to 8 bits explains is wrong where it is neither what the declared rounding of the
/// factors gives (NodeError::by_levels) nor what float32 makes of the factors themselves: then other scales,
/// zero points or weights were used. One that is what they give, and seems wrong because an error before
/// (`spoiled`) made numbers that they do not represent, inherits that error.
void hold_to_levels(const StoredTensor& result, const Standard& standard, bool spoiled, ArbiterVerdict& out);

/// Roundings are explained up to several of their expected sizes each, but hardly by the median of many: a
/// result whose errors are together as large as those of another format was computed in that one. For results
/// of a node in float16 or bfloat16.
void hold_to_size(const StoredTensor& result, const Standard& standard, ArbiterVerdict& out);

}  // namespace assay
