// Between which numbers float16 is, and which nodes need more than that.
#pragma once

#include "assay/graph.h"

namespace assay {

inline constexpr float kLargestHalf = 65504;
inline constexpr float kSmallestNormalHalf = 6.103515625e-05F;   // 2^-14
inline constexpr float kSmallestHalf = 5.9604644775390625e-08F;  // 2^-24, subnormal

/// Whether a node that could compute in float16 had better not.
bool needs_float32(const Node& node);

/// Gives normalizations whose variances float16 does not hold initializers in place of Constant nodes, which
/// become float16 before it is their turn.
void hold_statistics(Graph& g);

}  // namespace assay
