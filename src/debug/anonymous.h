// What a model says of those who made it, taken away.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/graph.h"

namespace assay::debug {

/// Gives values, nodes, graphs, local functions and symbolic extents generated names, those of bodies too,
/// and removes doc strings, metadata, and what the file says of its producer. Operators, their domains and
/// all numbers stay.
void remove_names(Model& model);

/// The constants of the main graph that hold floating-point numbers, in their order: what was trained.
/// Integers, of which shapes and indices are made, are not among them, and no single numbers, such as
/// epsilons.
std::vector<Value*> weights_of(const Graph& graph);

/// Puts seeded random numbers of the same spread in the place of all weights but those at the positions
/// `kept` (ascending).
void replace_weights(Model& model, std::span<const size_t> kept);

}  // namespace assay::debug
