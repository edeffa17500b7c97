// MultiHeadAttention and DecoderMaskedMultiHeadAttention: attention on projected queries, keys and values;
// past keys and values come before the new ones.
#pragma once

#include "ops/contrib/packed_heads.h"

namespace assay {

struct MhaInputs {
  HeadInputs heads;
  size_t mask, score_bias, past_key, past_value, past_length, cache_indirection;
};

/// Output [B, S, heads * value size]; present keys and values; the scores with bias and mask.
void infer_mha(InferContext& c, const MhaInputs& in, bool shares_buffer);
void multi_head_attention(const EvalContext& c, Steps& steps, const MhaInputs& in, bool causal,
                          bool shares_buffer, std::vector<Traced>& outputs);

}  // namespace assay
