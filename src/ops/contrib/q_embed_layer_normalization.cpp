// QEmbedLayerNormalization: EmbedLayerNormalization with quantized tables, gamma and beta, dequantized before
// use: (q - zero point) * scale.
#include <cmath>
#include <cstdint>

#include "ops/contrib/embedding.h"
#include "ops/contrib/quantized.h"
#include "ops/eval_util.h"
#include "ops/numerics/steps.h"
#include "ops/op_list.h"

namespace assay::op_ms_QEmbedLayerNormalization {
namespace {

/// The operands follow each other: quantized values from 2 on, scales from 8 on, zero points from 13 on.
enum Operand { kWordTable, kPositionTable, kSegmentTable, kGamma, kBeta };
constexpr size_t kWords = 0, kSegments = 1, kMask = 7, kNoPositions = SIZE_MAX;

QuantizedInput operand(Operand o) {
  const auto i = static_cast<size_t>(o);
  return {2 + i, 8 + i, 13 + i};
}

void infer(InferContext& c) {
  for (const Operand o : {kWordTable, kPositionTable, kSegmentTable, kGamma, kBeta})
    check_quantized(c, operand(o));
  infer_embedding(c, operand(kWordTable).levels, c.input_dtype(operand(kWordTable).scale));
}

/// Undefined when it is left out.
Tensor read(const EvalContext& c, Operand o) {
  return c.has_input(operand(o).levels) ? dequantized(c, operand(o)) : Tensor();
}

/// The product with the scale rounds.
Traced parameter(const EvalContext& c, Steps& steps, Operand o, int64_t size) {
  const Tensor t = read(c, o);
  c.check(t.shape() == Shape{size}, "input {} has shape {} where ({},) is needed", operand(o).levels,
          t.shape().str(), size);
  return steps.inexact(t, map_elements<double>(t, [](double x) { return std::fabs(x); }));
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs.resize(2);
  const Traced sum = embed(c, steps, {kWords, kSegments, kNoPositions},
                           {read(c, kWordTable), read(c, kPositionTable), read(c, kSegmentTable)});
  const int64_t hidden = sum.value.shape().back();
  c.check(hidden > 0, "tables of shape {} have no rows to normalise", c.shape(2).str());
  const Traced rows = steps.normalize(sum, hidden, c.attr_float("epsilon"));
  outputs[0] = steps.add(steps.multiply(rows, parameter(c, steps, kGamma, hidden)),
                         parameter(c, steps, kBeta, hidden));
  outputs[1].value = mask_lengths(c, kMask);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input_ids: T1
in  segment_ids: T1 ?
in  word_embedding_quant: T2
in  position_embedding_quant: T2
in  segment_embedding: T2 ?
in  gamma_quant: T2
in  beta_quant: T2
in  mask: T1 ?
in  word_embedding_scale: T
in  position_embedding_scale: T
in  segment_embedding_scale: T ?
in  gamma_scale: T
in  beta_scale: T
in  word_embedding_zero_point: T2
in  position_embedding_zero_point: T2
in  segment_embedding_zero_point: T2 ?
in  gamma_zero_point: T2
in  beta_zero_point: T2
out layernorm_out: T
out mask_index_out: T1
attr epsilon: float = 9.99999996e-13
type T1: int32
type T2: int8 uint8
type T: float)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QEmbedLayerNormalization",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_QEmbedLayerNormalization
