// Types of the nodes that a conversion makes.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Gives the outputs of one node the types that follow from its inputs; `opset` is that of the node's domain.
/// What cannot be inferred stays as it is.
void infer_node(Node& node, int64_t opset);

}  // namespace assay
