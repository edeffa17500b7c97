// Finds attention layers by their pattern.
#pragma once

#include <vector>

#include "assay/graph.h"

namespace assay {

/// The patterns: 0 is MatMul(q, k) -> Softmax -> MatMul(., v); in 1 the first MatMul has q and k
/// multiplied by a factor, the square root of 1 / sqrt(last extent of q), that the graph computes from the
/// shape of q.
inline constexpr int kAttentionPatterns = 2;

struct AttentionMatch {
  Value *q, *k, *v;  ///< in shape 1 before the factor
  Node *scores, *softmax, *context;
};

/// In the order of the nodes; each once. Nodes of subgraphs are not searched.
std::vector<AttentionMatch> find_attention(const Graph& graph, int pattern);

}  // namespace assay
