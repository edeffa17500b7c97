// The operands of MultiHeadAttention and DecoderMaskedMultiHeadAttention, in each of their forms.
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// The inputs.
struct HeadInputs {
  size_t query, key, value, bias;
};

/// [batch, heads, sequence, size] each.
struct HeadOperands {
  Traced query, key, value;
};

/// Reads one of these forms, D = heads * size:
///   query [B, S, D], key [B, L, D], value [B, L, Dv]; a bias [D + D + Dv] is added to all three
///   query [B, S, D], key [B, L, heads, 2, size] with the values
///   query [B, S, D], key and value [B, heads, L, size], which are used as they are
///   query [B, S, heads, 3, size] or [B, S, 3 * D] with keys and values; a bias is added
/// Throws Error for any other.
HeadOperands read_heads(const EvalContext& c, Steps& steps, const HeadInputs& in);

/// Extents of the operands as far as they are known.
struct HeadExtents {
  Dim batch, queries, keys, size, value_size;
};
HeadExtents infer_heads(const InferContext& c, const HeadInputs& in);

/// The attribute num_heads. Throws Error unless it is positive.
int64_t attention_heads(const OpContext& c);

}  // namespace assay
