// EmbedLayerNormalization: the embeddings of words, positions and segments added up, and the layer
// normalization of the sum; also the lengths that the mask gives, and the sum.
#include "ops/contrib/embedding.h"
#include "ops/contrib/layer_norm.h"
#include "ops/op_list.h"

namespace assay::op_ms_EmbedLayerNormalization {
namespace {

enum Input { kWords, kSegments, kWordTable, kPositionTable, kSegmentTable, kGamma, kBeta, kMask, kPositions };

void infer(InferContext& c) {
  infer_embedding(c, kWordTable, c.input_dtype(kWordTable));
  const Dims *ids = c.input_dims(kWords), *table = c.input_dims(kWordTable);
  c.set_output(2, c.input_dtype(kWordTable),
               {ids ? (*ids)[0] : Dim(), ids ? (*ids)[1] : Dim(), table ? (*table)[1] : Dim()});
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs.resize(3);
  const Tensor segments = c.has_input(kSegmentTable) ? c.input(kSegmentTable) : Tensor();
  outputs[2] = embed(c, steps, {kWords, kSegments, kPositions},
                     {c.input(kWordTable), c.input(kPositionTable), segments});
  outputs[0] = layer_norm(c, steps, outputs[2], {kGamma, kBeta});
  outputs[1].value = mask_lengths(c, kMask);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input_ids: T1
in  segment_ids: T1 ?
in  word_embedding: T
in  position_embedding: T
in  segment_embedding: T ?
in  gamma: T
in  beta: T
in  mask: T1 ?
in  position_ids: T1 ?
out output: T
out mask_index: T1 ?
out embedding_sum: T ?
attr mask_index_type: int
attr epsilon: float = 9.99999996e-13
type T1: int32
type T: float float16)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "EmbedLayerNormalization",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 0, .of = 2},
                      {.kind = InputUse::Kind::kIndex, .input = 1, .of = 3}}},
        },
};

}  // namespace assay::op_ms_EmbedLayerNormalization
