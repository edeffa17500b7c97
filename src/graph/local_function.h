// Order of local functions.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Moves each function before its callers; otherwise keeps the depth-first order. Throws
/// Error (kInvalidModel) that names the functions of a cycle.
void sort_functions(Model& model);

}  // namespace assay
