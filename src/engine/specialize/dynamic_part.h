// Parts of a graph whose shapes are known only at run time.
#pragma once

#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay::engine {

/// The operator, in the domain of regions, that represents a part of a graph which is prepared when its
/// inputs' shapes are known. Its attribute `body` holds the nodes, as for regions.
inline constexpr std::string_view kNetwork = "Network";

/// A value without memory of known size, as kernels require.
bool is_open(const Value* v);

/// Replaces nodes of the main graph, given in topological order, by a Network node. Call sort_topologically()
/// afterwards.
Node* cut_part(Graph& g, const std::vector<Node*>& nodes);

/// Moves parts that depend on shapes of computed values out of the main graph, into Network nodes: one for
/// the nodes that depend on the same values, so that each is prepared for its own shapes (such as the rows of
/// one expert) and reused when they recur, independently of others. Nodes whose inputs have known shapes
/// stay, even after a waiting part and even if their results have unknown shapes. Integers derived from a
/// waiting part stay in it, because they determine shapes. Returns false when there is nothing to move.
bool cut_dynamic_part(Model& model);

}  // namespace assay::engine
