// Types of the nodes that a conversion makes.
#pragma once

#include "assay/graph.h"
#include "convert/constant_finder.h"

namespace assay {

/// Gives the outputs of one node, those of unknown type, the types that follow from its inputs; `opset` is
/// that of the node's domain. What cannot be inferred stays unknown.
void infer_node(Node& node, int64_t opset, ConstantFinder& constants);

}  // namespace assay
