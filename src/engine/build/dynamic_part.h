// What has no shapes before the run.
#pragma once

#include "assay/graph.h"

namespace assay::engine {

/// The operator, of the idioms' domain, that stands for a part of a graph which is made ready for its inputs'
/// shapes when they are there. Its attribute `body` holds the nodes, as an idiom's does.
inline constexpr std::string_view kNetwork = "Network";

/// Cuts everything that has to wait for the shape of a computed value out of the main graph, into one Network
/// node. Nodes whose inputs have known shapes stay, also where their results have not; what follows a node
/// that waits goes along, whatever its shapes. Returns false when there is nothing to cut.
bool cut_dynamic_part(Model& model);

}  // namespace assay::engine
