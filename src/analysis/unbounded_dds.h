// Tensors whose values determine sizes of other tensors
// without a bound: unbounded data-dependent shapes.
#pragma once

#include <vector>

#include "assay/graph.h"

namespace assay {

/// The inputs (OpFacts::size_input) by which Range (limit), Pad (pads), Resize (sizes), Tile (repeats),
/// Expand (shape) and operators of modules get an extent that depends on a value computed at run time. Each
/// once, in the order of the nodes; of the main graph.
///
/// As in Polygraphy, only nodes count whose outputs introduce a new extent: of unknown rank, a symbol
/// that no graph input and no earlier node has, or an unknown one. The output of a Min is bounded. The model
/// should have its constants folded and its shapes inferred.
std::vector<Value*> unbounded_dds_tensors(const Graph& graph, const Model& model);

}  // namespace assay
