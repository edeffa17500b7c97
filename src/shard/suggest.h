// Sharding hints for a model, from its attention layers.
#pragma once

#include "assay/graph.h"
#include "shard/hints.h"

namespace assay {

struct HintOptions {
  Parallelism parallelism = Parallelism::kContext;
  CollectiveHint collectives;
  /// Replace attention layers by one node each; else k and v are gathered.
  std::optional<FusedAttention> fused;
  bool suggest_io = true;  ///< list the inputs and outputs that attention layers touch
  int64_t i_idx = 0, o_idx = 0, k_idx = 0, v_idx = 0;  ///< sequence dimensions where no name tells
  std::optional<int64_t> i_rank, o_rank, kv_rank;      ///< ranks where the model does not say them
  int attention_pattern = 0;
};

/// Finds the attention layers, and the inputs that lead to them and the outputs that follow from them, each
/// once, in the order in which a walk from the layers meets them. The dimension of a sequence is the first
/// that is named sequence_length or seq_len. Logs in Polygraphy's words.
ShardHints suggest_hints(const Graph& graph, const HintOptions& options);

}  // namespace assay
