// The activation functions of a node, for steps.
#pragma once

#include "engine/tactics/recurrent/recurrent_functions_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// Those of a node's directions.
RecurrentFunctionFields recurrent_functions(const Problem& p, kernels::RecurrentKind kind,
                                            int64_t directions);

}  // namespace assay::engine
