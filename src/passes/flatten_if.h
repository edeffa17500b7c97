// If nodes whose condition is known.
#pragma once

#include <cstdint>

#include "assay/graph.h"

namespace assay {

/// Puts the branch that runs in place of each If whose condition is a constant. Values and nodes of the
/// branch get the suffix `_subg_<index>_<name of the branch>`. Returns how many Ifs went.
int64_t flatten_constant_ifs(Graph& graph);

}  // namespace assay
