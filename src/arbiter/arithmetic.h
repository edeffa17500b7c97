// What a result in a narrow type shows of the arithmetic it was computed in.
#pragma once

#include "arbiter/explained.h"
#include "arbiter/judgement.h"

namespace assay {

/// The bounds of a node in float16 or bfloat16 allow for sums in that type, which hardly anybody makes. Where
/// the result shows that it was computed in float32 and rounded once, or the runner's other results do
/// (Standard::computes_wider), its elements are held to that.
void hold_to_arithmetic(const Tensor& result, const Standard& standard, DType dtype, Explained& explained);

}  // namespace assay
