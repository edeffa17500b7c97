// Tensors whose values decide how large other tensors become, without a bound: unbounded data-dependent
// shapes.
#pragma once

#include <vector>

#include "assay/graph.h"

namespace assay {

/// The inputs (OpFacts::size_input) by which Range (limit), Pad (pads), Resize (sizes), Tile (repeats),
/// Expand (shape) and operators of modules get an extent that only a value computed at run time tells. Each
/// once, in the order of the nodes; of the main graph.
///
/// As in Polygraphy, only nodes count whose outputs bring in an extent that is new: of unknown rank, a symbol
/// that no graph input and no earlier node has, or an unknown one. What a Min computes has its bound. So the
/// model should have its constants folded and its shapes inferred.
std::vector<Value*> unbounded_dds_tensors(const Graph& graph, const Model& model);

}  // namespace assay
