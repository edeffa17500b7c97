// Attention: softmax(scale * Q K^T, capped, plus masks) V for every head. Past keys and values come before
// the new ones. A query that may attend to nothing gives zeros.
#include "ops/multiply_accumulates.h"
#include "ops/nn/attention_plan.h"
#include "ops/nn/heads.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Attention {
namespace {

int64_t checked_stage(const OpContext& c) {
  const int64_t stage = c.attr_int("qk_matmul_output_mode");
  c.check(stage >= 0 && stage <= 3, "attribute 'qk_matmul_output_mode' is {}; it must be 0 to 3", stage);
  return stage;
}

void infer(InferContext& c) {
  checked_stage(c);
  infer_attention(c);
}

/// The content of the fourth output.
HeadsInput::Show shown_stage(const EvalContext& c) {
  using Show = HeadsInput::Show;
  constexpr Show kStages[] = {Show::kProducts, Show::kCapped, Show::kBiased, Show::kProbabilities};
  const int64_t stage = checked_stage(c);
  return c.wants_output(3) ? kStages[stage] : Show::kNothing;
}

double softmax_roundoff(const OpContext& c) {
  const int64_t precision = c.attr_int("softmax_precision", 0);
  return is_known_dtype(precision) ? unit_roundoff(static_cast<DType>(precision)) : 0;
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const AttentionPlan p(c);
  HeadsInput in;
  // Backends scale Q, or Q and K by the square root each, or the product; that costs two roundings of Q at
  // most.
  in.query = steps.scale(steps.given(p.query), p.scale);
  in.key = steps.given(p.present_key);
  in.value = steps.given(p.present_value);
  in.softcap = p.softcap;
  in.softmax_u = softmax_roundoff(c);
  in.bias = [&p](int64_t batch, int64_t head, int64_t query, double* scores) {
    p.bias(batch, head, query, scores);
  };
  in.show = shown_stage(c);
  HeadsOutput y = attend(steps, in);
  outputs[0] = p.by_sequence ? std::move(y.output) : split_heads(y.output, p.heads);
  if (c.wants_output(1)) outputs[1] = in.key;
  if (c.wants_output(2)) outputs[2] = in.value;
  if (c.wants_output(3)) outputs[3] = std::move(y.scores);
}

using Fused = FusedOp<compute>;

constexpr OpVersion kVersions[] = {
    {23, R"(
in  Q: T1
in  K: T1
in  V: T2
in  attn_mask: U ?
in  past_key: T1 ?
in  past_value: T2 ?
out Y: T1
out present_key: T1 ?
out present_value: T2 ?
out qk_matmul_output: T1 ?
attr qk_matmul_output_mode: int = 0
attr softcap: float = 0
attr softmax_precision: int
attr kv_num_heads: int
attr q_num_heads: int
attr scale: float
attr is_causal: int = 0
type T1: @float_ir4
type T2: @float_ir4
type U: @numeric_ir4 bool)",
     infer, Fused::eval},
    {24, R"(
in  Q: T1
in  K: T1
in  V: T2
in  attn_mask: U ?
in  past_key: T1 ?
in  past_value: T2 ?
in  nonpad_kv_seqlen: int64 ?
out Y: T1
out present_key: T1 ?
out present_value: T2 ?
out qk_matmul_output: T1 ?
attr qk_matmul_output_mode: int = 0
attr softcap: float = 0
attr softmax_precision: int
attr kv_num_heads: int
attr q_num_heads: int
attr scale: float
attr is_causal: int = 0
type T1: @float_ir4
type T2: @float_ir4
type U: @numeric_ir4 bool)",
     infer, Fused::eval},
    {25, R"(
in  Q: T1
in  K: T1
in  V: T2
in  attn_mask: U ?
in  past_key: T1 ?
in  past_value: T2 ?
in  nonpad_kv_seqlen: int64 ?
out Y: T1
out present_key: T1 ?
out present_value: T2 ?
out qk_matmul_output: T1 ?
attr right_window_size: int = -1
attr left_window_size: int = -1
attr qk_matmul_output_mode: int = 0
attr softcap: float = 0
attr softmax_precision: int
attr kv_num_heads: int
attr q_num_heads: int
attr scale: float
attr is_causal: int = 0
type T1: @float_ir4
type T2: @float_ir4
type U: @numeric_ir4 bool)",
     infer, Fused::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Attention",
    .versions = kVersions,
    .numerics = Fused::kNumerics,
    .facts =
        {
            .multiply_accumulates = attention_macs,
        },
};

}  // namespace assay::op_onnx_Attention
