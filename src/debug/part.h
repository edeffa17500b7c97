// Some nodes of a model as a model of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay::debug {

/// The nodes at these positions (ascending) of the main graph, which is in topological order. What others
/// compute for them becomes inputs, what they compute for others or for the graph's outputs becomes outputs;
/// so do results that nobody uses where there would be no output else. Weights are shared with the model.
/// Throws Error (kUnsupported) that names a value whose type nobody knows and that would have to be an input
/// or output.
std::shared_ptr<Model> part_of(const Model& model, std::span<const size_t> nodes);

/// For each node how many values come from the nodes before it to it or to later ones: what a cut there makes
/// inputs.
std::vector<size_t> cut_costs(const Graph& graph);

}  // namespace assay::debug
