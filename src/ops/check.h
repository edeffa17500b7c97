// Is a node a legal use of its operator?
#pragma once

#include "assay/graph.h"
#include "ops/op_def.h"

namespace assay {

/// Checks arity, attribute names and kinds, and the element types of the inputs that are known, against the
/// schema. Throws Error (kInvalidModel) that names the rule; the caller adds the node.
void check_node(const Node& node, const OpDef& op, const OpVersion& version);

}  // namespace assay
