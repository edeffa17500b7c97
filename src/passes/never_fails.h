// Nodes that no element of an input makes fail.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Whether the node gives a result for whatever elements its inputs have: what it could complain of is in
/// their types and shapes, and inference has looked at these. False where that is not known.
bool never_fails(const Node& n, const Model& model);

}  // namespace assay
