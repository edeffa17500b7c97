// Types of the nodes that a conversion makes.
#pragma once

#include "assay/graph.h"
#include "convert/constant_finder.h"
#include "ops/op_def.h"

namespace assay {

/// Gives the outputs of one node, those of unknown type, the types that follow from its inputs; `opset` is
/// that of the node's domain. What cannot be inferred stays unknown.
void infer_node(Node& node, const OpSet& ops, int64_t opset, ConstantFinder& constants);

/// Throws Error where the node breaks a rule of its operator, as far as what is known of its inputs shows it;
/// what adapters rely on. Also gives its outputs of unknown type theirs.
void check_rules(const Node& node, const OpDef& op, const OpVersion& version, ConstantFinder& constants);

}  // namespace assay
