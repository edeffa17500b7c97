// QAttention: Attention with quantized input and weights: the projections are integer products, scaled, plus
// the bias.
#include "ops/contrib/quantized_product.h"
#include "ops/contrib/self_attention.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"

namespace assay::op_ms_QAttention {
namespace {

enum Input { kInput, kWeights, kBias, kInputScale, kWeightScale, kMask, kInputZero, kWeightZero, kPast };
constexpr SelfAttentionInputs kInputs = {.mask = kMask, .past = kPast};

void infer(InferContext& c) { infer_self_attention(c, kInputs, c.input_dtype(kBias)); }

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  c.check(c.shape(kInput).size() == 3 && c.shape(kWeights).size() == 2,
          "input {} and weights {} must have 3 and 2 dimensions", c.shape(kInput).str(),
          c.shape(kWeights).str());
  const Traced levels = steps.given(quantized_data(c, kInput, kInputZero));
  const Traced projected = scaled_product(c, steps, levels, scalar_parameter(c, kInputScale),
                                          {kWeights, kWeightScale, kWeightZero});
  self_attention(c, steps, add_bias(c, steps, projected, kBias), kInputs, outputs);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T1
in  weight: T2
in  bias: T3
in  input_scale: T3
in  weight_scale: T3
in  mask_index: T4 ?
in  input_zero_point: T1 ?
in  weight_zero_point: T2 ?
in  past: T3 ?
out output: T3
out present: T3 ?
attr scale: float
attr mask_filter_value: float
attr past_present_share_buffer: int
attr do_rotary: int
attr unidirectional: int = 0
attr num_heads: int required
type T1: int8 uint8
type T2: int8 uint8
type T3: float float16
type T4: int32)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QAttention",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_QAttention
