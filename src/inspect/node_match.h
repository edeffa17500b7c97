// Which nodes of two graphs are the same one.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A value of the second graph for each of the first that both have.
using SameValues = std::unordered_map<const Value*, const Value*>;

/// Pairs nodes of two graphs, those of `a` in their order; what has no partner is in no pair. `values` says
/// which values from outside (inputs, and what subgraphs capture) are the same; the outputs of paired nodes
/// are added to it.
std::vector<std::pair<const Node*, const Node*>> match_nodes(const Graph& a, const Graph& b,
                                                             SameValues& values);

}  // namespace assay
