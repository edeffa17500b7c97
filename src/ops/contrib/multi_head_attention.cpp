// MultiHeadAttention: multi-head attention on projected queries, keys and values.
#include "ops/contrib/mha.h"
#include "ops/op_list.h"

namespace assay::op_ms_MultiHeadAttention {
namespace {

constexpr MhaInputs kInputs = {.heads = {.query = 0, .key = 1, .value = 2, .bias = 3},
                               .mask = 4,
                               .score_bias = 5,
                               .past_key = 6,
                               .past_value = 7,
                               .past_length = 8,
                               .cache_indirection = 9};

bool shares_buffer(const OpContext& c) { return c.input_count() > 8 && c.has_input(8); }

void infer(InferContext& c) { infer_mha(c, kInputs, shares_buffer(c)); }

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  multi_head_attention(c, steps, kInputs, c.attr_int("unidirectional") != 0, shares_buffer(c), outputs);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  query: T
in  key: T ?
in  value: T ?
in  bias: T ?
in  key_padding_mask: M ?
in  attention_bias: T ?
in  past_key: T ?
in  past_value: T ?
in  past_sequence_length: M ?
in  cache_indirection: M ?
out output: T
out present_key: T ?
out present_value: T ?
out qk: QK ?
attr unidirectional: int = 0
attr scale: float
attr mask_filter_value: float
attr num_heads: int required
type T: float float16 bfloat16
type QK: float float16 bfloat16
type M: int32)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "MultiHeadAttention",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .element_attributes = {"mask_filter_value"},
        },
};

}  // namespace assay::op_ms_MultiHeadAttention
