// Matches nodes of two graphs.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A value of the second graph for each of the first that both have.
using SameValues = std::unordered_map<const Value*, const Value*>;

/// Pairs nodes of two graphs, in the order of `a`; nodes without a partner are in no pair. `values` maps
/// equal outer values (inputs, and captured values of subgraphs); the outputs of paired nodes
/// are added to it.
std::vector<std::pair<const Node*, const Node*>> match_nodes(const Graph& a, const Graph& b,
                                                             SameValues& values);

}  // namespace assay
