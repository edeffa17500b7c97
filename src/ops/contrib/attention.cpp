// Attention: queries, keys and values are projections of the input, which meet in multi-head attention; past
// keys and values come before the new ones.
#include "ops/contrib/quantized_product.h"
#include "ops/contrib/self_attention.h"
#include "ops/op_list.h"

namespace assay::op_ms_Attention {
namespace {

enum Input { kInput, kWeights, kBias, kMask, kPast, kScoreBias, kPastLength };
constexpr SelfAttentionInputs kInputs = {
    .mask = kMask, .past = kPast, .bias = kScoreBias, .past_length = kPastLength};

void infer(InferContext& c) { infer_self_attention(c, kInputs, c.input_dtype(kInput)); }

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  c.check(c.shape(kInput).size() == 3 && c.shape(kWeights).size() == 2,
          "input {} and weights {} must have 3 and 2 dimensions", c.shape(kInput).str(),
          c.shape(kWeights).str());
  const Traced projected = steps.product(steps.given(c.input(kInput)), steps.given(c.input(kWeights)));
  self_attention(c, steps, add_bias(c, steps, projected, kBias), kInputs, outputs);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
in  weights: T
in  bias: T ?
in  mask_index: M ?
in  past: T ?
in  attention_bias: T ?
in  past_sequence_length: M ?
out output: T
out present: T ?
attr scale: float
attr mask_filter_value: float
attr do_rotary: int
attr past_present_share_buffer: int
attr qkv_hidden_sizes: ints
attr unidirectional: int = 0
attr rotary_embedding_dim: int
attr num_heads: int required
type T: float float16 bfloat16
type M: int32)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "Attention",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .element_attributes = {"mask_filter_value"},
        },
};

}  // namespace assay::op_ms_Attention
