// Infers types of the nodes that a conversion creates.
#pragma once

#include "assay/graph.h"
#include "convert/constant_finder.h"
#include "ops/op_def.h"

namespace assay {

/// Infers the unknown types of one node's outputs from its inputs; `opset` is that of the node's domain.
/// Types that cannot be inferred stay unknown.
void infer_node(Node& node, const OpSet& ops, int64_t opset, ConstantFinder& constants);

/// Throws Error if the node violates a rule of its operator, as far as its known inputs show; adapters rely
/// on this. Also infers unknown types of its outputs.
void check_rules(const Node& node, const OpDef& op, const OpVersion& version, ConstantFinder& constants);

}  // namespace assay
