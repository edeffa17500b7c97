// Rotary position embedding: shared by RotaryEmbedding, GroupQueryAttention and Attention.
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// cos and sin of the angles, [positions, pairs], and the layout of pairs in a head: neighbours, or one
/// element of each half of the leading 2 * pairs elements.
struct RotaryTables {
  Tensor cosines, sines;
  bool interleaved = false;
};

/// Rotates the heads of x [batch, heads, sequence, size]; row positions[b * sequence + s] of the tables is
/// that of (b, s). Throws Error when the tables do not fit or a position is outside of them.
Traced rotate(Steps& steps, const Traced& x, const RotaryTables& tables,
              const std::vector<int64_t>& positions);

}  // namespace assay
