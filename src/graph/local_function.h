// Order of local functions.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Puts each function before those that call it; else the order stays as a depth-first walk keeps it. Throws
/// Error (kInvalidModel) that names the functions of a cycle.
void sort_functions(Model& model);

}  // namespace assay
