// Flattens If nodes with a constant condition.
#pragma once

#include <cstdint>

#include "assay/graph.h"

namespace assay {

/// Replaces each If with a constant condition by the branch that runs. Values of the branch get the
/// suffix `_subg_<index>_<name of the branch>`, where the index is the number of preceding nodes; nodes get
/// it if the graph has their name. `ir_version` is the model's. Returns the number of replaced Ifs.
int64_t flatten_constant_ifs(Graph& graph, int64_t ir_version);

}  // namespace assay
