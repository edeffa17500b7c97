// Sharding hints for a model, from its attention layers.
#pragma once

#include "assay/graph.h"
#include "shard/hints.h"

namespace assay {

struct HintOptions {
  Parallelism parallelism = Parallelism::kContext;
  CollectiveHint collectives;
  /// Replace attention layers by one node each; otherwise gather k and v.
  std::optional<FusedAttention> fused;
  bool suggest_io = true;  ///< list the inputs and outputs that attention layers reach
  int64_t i_idx = 0, o_idx = 0, k_idx = 0, v_idx = 0;  ///< sequence dimensions if no name tells
  std::optional<int64_t> i_rank, o_rank, kv_rank;      ///< ranks if the model does not have them
  int attention_pattern = 0;
};

/// Finds the attention layers, and the inputs and outputs connected to them, each once, in the order of a
/// walk from the layers. The dimension of a sequence is the first
/// that is named sequence_length or seq_len. Logs in Polygraphy's words.
ShardHints suggest_hints(const Graph& graph, const HintOptions& options);

}  // namespace assay
