// Rotary position embedding: what RotaryEmbedding, GroupQueryAttention and Attention share.
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// cos and sin of the angles, [positions, pairs], and how pairs lie in a head: neighbours, or one element of
/// each half of the leading 2 * pairs elements.
struct RotaryTables {
  Tensor cosines, sines;
  bool interleaved = false;
};

/// Turns the heads of x [batch, heads, sequence, size]; row positions[b * sequence + s] of the tables is that
/// of (b, s). Throws Error when the tables do not fit or a position is outside of them.
Traced rotate(Steps& steps, const Traced& x, const RotaryTables& tables,
              const std::vector<int64_t>& positions);

}  // namespace assay
