// Hashes for matching nodes of two graphs.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// Hashes of one node. `strong` covers attributes and samples of constants, `weak` only operators, arities
/// and the types and shapes of constants.
struct NodeHashes {
  struct Pair {
    uint64_t strong = 0, weak = 0;
    bool operator==(const Pair&) const = default;
  };
  Pair local;  ///< the node with its constants and subgraphs
  Pair up;     ///< with everything that it depends on
  Pair down;   ///< with everything that depends on it
};

/// Hashes of outer values of a graph: equal numbers mean equal values.
using ValueIds = std::unordered_map<const Value*, uint64_t>;

/// Hashes of every node of the graph, excluding subgraphs. Values neither computed in it nor in `ids` are
/// distinct from all others.
std::unordered_map<const Node*, NodeHashes> hash_nodes(const Graph& graph, const ValueIds& ids);

}  // namespace assay
