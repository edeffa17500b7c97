// The part of Attention and QAttention after queries, keys and values are projected.
#pragma once

#include <cstdint>

#include "ops/numerics/steps.h"

namespace assay {

/// The optional inputs; kNoInput for one that the operator does not have.
struct SelfAttentionInputs {
  static constexpr size_t kNoInput = SIZE_MAX;
  size_t mask, past, bias = kNoInput, past_length = kNoInput;
};

/// Sizes of the queries (and keys) and of the values in the projection of `columns` columns: the attribute
/// qkv_hidden_sizes, or a third for each. Throws Error when the heads do not divide them.
struct HiddenSizes {
  HiddenSizes(const OpContext& c, int64_t columns);
  int64_t query, value;
};

/// Sets outputs 0 and 1 for a projection [batch, sequence, queries + keys + values] of input 0.
void self_attention(const EvalContext& c, Steps& steps, const Traced& projected,
                    const SelfAttentionInputs& in, std::vector<Traced>& outputs);

/// Types and shapes of the outputs; input 1 holds the weights.
void infer_self_attention(InferContext& c, const SelfAttentionInputs& in, DType dtype);

}  // namespace assay
