// DecoderMaskedMultiHeadAttention: MultiHeadAttention of one query for each batch element, on a cache or on
// the keys and values of an encoder. Beam search (cache_indirection) is not evaluated.
#include "ops/contrib/mha.h"
#include "ops/op_list.h"

namespace assay::op_ms_DecoderMaskedMultiHeadAttention {
namespace {

constexpr MhaInputs kInputs = {.heads = {.query = 0, .key = 1, .value = 2, .bias = 10},
                               .mask = 3,
                               .score_bias = 4,
                               .past_key = 5,
                               .past_value = 6,
                               .past_length = 7,
                               .cache_indirection = 9};

bool shares_buffer(const OpContext& c) { return c.attr_int("past_present_share_buffer", 0) != 0; }

void infer(InferContext& c) {
  infer_mha(c, kInputs, shares_buffer(c));
  const Dims* q = c.input_dims(0);
  c.check(q == nullptr || q->size() < 2 || !(*q)[1].is_known() || (*q)[1].value() == 1,
          "there are {} queries where 1 is needed", q ? (*q)[1].str() : "?");
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  c.check(c.shape(0).size() >= 2 && c.shape(0)[1] == 1,
          "a query has shape {} where one for each batch element is needed", c.shape(0).str());
  multi_head_attention(c, steps, kInputs, false, shares_buffer(c), outputs);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  query: T
in  key: T ?
in  value: T ?
in  mask_index: M ?
in  attention_bias: T ?
in  past_key: T ?
in  past_value: T ?
in  past_sequence_length: M ?
in  beam_width: M ?
in  cache_indirection: M ?
in  bias: T ?
out output: T
out present_key: T ?
out present_value: T ?
out qk: QK ?
attr output_qk: int
attr mask_filter_value: float
attr scale: float
attr past_present_share_buffer: int
attr num_heads: int required
type T: float float16
type QK: float float16
type M: int32)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "DecoderMaskedMultiHeadAttention",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_DecoderMaskedMultiHeadAttention
