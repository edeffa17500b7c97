// The embedding layer of BERT: rows of tables for words, positions and segments, added up.
#pragma once

#include "ops/numerics/steps.h"

namespace assay {

/// The inputs with the ids; segment_ids and position_ids may be left out.
struct EmbeddingIds {
  size_t words, segments, positions;
};
/// The tables [entries, hidden]; `segments` may be left out, together with the ids.
struct EmbeddingTables {
  Tensor words, positions, segments;
};

/// [batch, sequence, hidden]. Without position ids, positions are 0, 1, ... in every row. Throws Error when
/// shapes do not go together or an id is outside its table.
Traced embed(const EvalContext& c, Steps& steps, const EmbeddingIds& ids, const EmbeddingTables& tables);

/// For every row of the mask [batch, sequence] the number of its ones; zeros without a mask.
Tensor mask_lengths(const EvalContext& c, size_t mask);

/// Output 0: [batch, sequence, hidden] of type `dtype`; output 1: int32[batch].
void infer_embedding(InferContext& c, size_t words_table, DType dtype);

}  // namespace assay
