// Numbers that tell whether nodes of two graphs may be the same one.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "assay/graph.h"

namespace assay {

/// Of one node. `strong` looks at attributes and samples of constants, `weak` only at operators, arities and
/// the types and shapes of constants.
struct NodeHashes {
  struct Pair {
    uint64_t strong = 0, weak = 0;
    bool operator==(const Pair&) const = default;
  };
  Pair local;  ///< the node with its constants and subgraphs
  Pair up;     ///< with everything that it depends on
  Pair down;   ///< with everything that depends on it
};

/// Hashes of what comes into a graph from outside: equal numbers mean equal values.
using ValueIds = std::unordered_map<const Value*, uint64_t>;

/// Of every node of the graph, not of those in its subgraphs. Values that are neither computed in it nor in
/// `ids` count as unlike any other.
std::unordered_map<const Node*, NodeHashes> hash_nodes(const Graph& graph, const ValueIds& ids);

}  // namespace assay
