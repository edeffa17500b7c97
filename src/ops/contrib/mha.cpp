#include "ops/contrib/mha.h"

#include "ops/contrib/key_mask.h"
#include "ops/infer_util.h"
#include "ops/nn/heads.h"

namespace assay {
namespace {

/// The rows of a shared buffer that are in use.
std::optional<int64_t> used_rows(const EvalContext& c, const MhaInputs& in, bool shares_buffer) {
  if (!shares_buffer || !c.has_input(in.past_key)) return {};
  c.check(c.has_input(in.past_length) && c.input(in.past_length).numel() == 1,
          "a shared buffer needs one past_sequence_length");
  return c.input(in.past_length).to_int64()[0];
}

void check_inputs(const OpContext& c, const MhaInputs& in) {
  c.check(c.has_input(in.past_key) == c.has_input(in.past_value),
          "past_key and past_value must be given together");
  c.check(!c.has_input(in.cache_indirection), "cache_indirection, of a beam search, cannot be evaluated");
}

}  // namespace

void infer_mha(InferContext& c, const MhaInputs& in, bool shares_buffer) {
  check_inputs(c, in);
  const HeadExtents e = infer_heads(c, in.heads);
  const Dim heads(attention_heads(c));
  const DType dtype = c.input_dtype(in.heads.query);
  c.set_output(0, dtype, {e.batch, e.queries, dim_mul(heads, e.value_size)});
  const Dims* past = c.has_input(in.past_key) ? c.input_dims(in.past_key) : nullptr;
  c.check(past == nullptr || past->size() == 4, "past_key has {} dimensions where 4 are needed",
          past ? past->size() : 0);
  Dim total = e.keys, present = e.keys;
  if (c.has_input(in.past_key)) {
    total = past && !shares_buffer ? dim_add((*past)[2], e.keys) : Dim();
    present = shares_buffer ? past ? (*past)[2] : Dim() : total;
  }
  c.set_output(1, dtype, {e.batch, heads, present, e.size});
  c.set_output(2, dtype, {e.batch, heads, present, e.value_size});
  c.set_output(3, dtype, {e.batch, heads, e.queries, total});
}

void multi_head_attention(const EvalContext& c, Steps& steps, const MhaInputs& in, bool causal,
                          bool shares_buffer, std::vector<Traced>& outputs) {
  check_inputs(c, in);
  const HeadOperands operands = read_heads(c, steps, in.heads);
  const std::optional<int64_t> used = used_rows(c, in, shares_buffer);
  const auto past = [&](size_t i) { return c.has_input(i) ? c.input(i) : Tensor(); };
  const Cache keys = extend_cache(steps, past(in.past_key), used, operands.key),
              values = extend_cache(steps, past(in.past_value), used, operands.value);
  const Shape& q = operands.query.value.shape();
  const int64_t total = keys.rows.value.dim(2);
  const KeyMask mask(c, in.mask, causal, q[0], q[2], total);
  const ScoreBias bias(c, in.score_bias, {q[0], q[1], q[2], total});
  HeadsInput core{
      .query = operands.query, .key = keys.rows, .value = values.rows, .scale = attention_scale(c, q[3])};
  core.bias = [&](int64_t b, int64_t h, int64_t s, double* scores) {
    bias.add(b, h, s, scores);
    mask.add(b, s, scores);
  };
  if (c.wants_output(3)) core.show = HeadsInput::Show::kBiased;
  HeadsOutput result = attend(steps, core);
  outputs.resize(4);
  outputs[0] = std::move(result.output);
  outputs[1] = keys.present;
  outputs[2] = values.present;
  outputs[3] = std::move(result.scores);
}

}  // namespace assay
