// Infers the arithmetic in which a result in a narrow type was computed.
#pragma once

#include "arbiter/explained.h"
#include "arbiter/judgement.h"

namespace assay {

/// The bounds of a node in float16 or bfloat16 allow for sums in that type, which are rare. If the result, or
/// the runner's other results (Standard::computes_wider), show that it was computed in float32 and rounded
/// once, its elements are judged by that.
void hold_to_arithmetic(const Tensor& result, const Standard& standard, DType dtype, Explained& explained);

}  // namespace assay
