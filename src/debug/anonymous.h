// Anonymizes a model.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/graph.h"

namespace assay::debug {

/// Replaces names of values, nodes, graphs, local functions and symbolic extents, including bodies, by
/// generated ones, and removes doc strings, metadata, and the producer. Operators, their domains and all
/// numbers stay.
void remove_names(Model& model);

/// The floating-point constants of the main graph, in
/// order: trained weights. Excludes integers, such as
/// shapes and indices, and scalars, such as epsilons.
std::vector<Value*> weights_of(const Graph& graph);

/// Replaces all weights except those at the positions `kept` (ascending) by seeded random numbers of the same
/// spread.
void replace_weights(Model& model, std::span<const size_t> kept);

}  // namespace assay::debug
