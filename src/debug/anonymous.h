// Replaces what identifies a model's owner: names and weights.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay::debug {

/// Replaces names of values, nodes, graphs, local functions with their domains and attributes, and symbolic
/// extents, including bodies, by generated ones, and removes doc strings, metadata, the producer, unused
/// imports, and names of data files. Operators, their domains and all numbers stay.
void remove_names(Model& model);

/// The number of trained weights, of the main graph, bodies and functions: constants, and lists in
/// attributes, of floats, small integers and strings. Excludes scalars, such as epsilons, and 64-bit
/// integers, such as shapes and indices.
size_t count_weights(const Model& model);

/// Replaces all weights except those at the positions `kept` (ascending) by seeded random numbers: floats of
/// the same spread, integers of the same range, strings by generated ones.
void replace_weights(Model& model, std::span<const size_t> kept);

}  // namespace assay::debug
