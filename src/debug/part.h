// Extracts nodes of a model as a separate model.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay::debug {

/// The nodes at these positions (ascending) of the main graph, which is in topological
/// order. Values computed by others become inputs, values used by others or by
/// the graph's outputs become outputs; so do unused results if there would be no
/// output otherwise. Weights are shared with the model. Throws Error (kUnsupported)
/// naming a value of unknown type that would have to be an input or output.
std::shared_ptr<Model> part_of(const Model& model, std::span<const size_t> nodes);

/// For each node the number of values that cross from earlier nodes to it or later ones: the inputs after a
/// cut there.
std::vector<size_t> cut_costs(const Graph& graph);

}  // namespace assay::debug
