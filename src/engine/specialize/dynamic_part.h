// What has no shapes before the run.
#pragma once

#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay::engine {

/// The operator, of the idioms' domain, that stands for a part of a graph which is made ready for its inputs'
/// shapes when they are there. Its attribute `body` holds the nodes, as an idiom's does.
inline constexpr std::string_view kNetwork = "Network";

/// A value without memory of a size known now, that a kernel would have to have.
bool is_open(const Value* v);

/// Puts a Network node in the place of nodes of the main graph, given in topological order. What follows is
/// sorted by sort_topologically().
Node* cut_part(Graph& g, const std::vector<Node*>& nodes);

/// Cuts what has to wait for the shapes of computed values out of the main graph, into Network nodes: one for
/// the nodes that hang on the same values, so that each is made ready for shapes of its own (the rows of
/// one expert, say) and found again when they come again, whatever the others' are. Nodes whose inputs have
/// known shapes stay, also behind a part that waits and also where their results have none. Integers that
/// follow from a part that waits stay in it: shapes come of them. Returns false when there is nothing to cut.
bool cut_dynamic_part(Model& model);

}  // namespace assay::engine
