// If nodes whose condition is known.
#pragma once

#include <cstdint>

#include "assay/graph.h"

namespace assay {

/// Puts the branch that runs in place of each If whose condition is a constant. Values of the branch get the
/// suffix `_subg_<index>_<name of the branch>`, where the index is the number of nodes in front, and nodes
/// too when the graph has their name. `ir_version` is the model's. Returns how many Ifs went.
int64_t flatten_constant_ifs(Graph& graph, int64_t ir_version);

}  // namespace assay
