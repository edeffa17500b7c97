// Whether every node is a legal use of its operator, and what is declared of its outputs true.
#pragma once

#include <string>
#include <vector>

#include "assay/graph.h"
#include "lint/report.h"

namespace assay::lint {

/// Checks operators, opsets, arity, attributes and element types of every node, subgraphs and function bodies
/// included, then infers all types and compares them with the declared ones. What inference says of a node
/// that a backend has refused already (kRuntimeError) is left out. The types of the model's values are those
/// inferred afterwards. `has_run`: a backend has run the whole model, so that it has all operators.
void check_operators(Model& model, bool has_run, Report& report);

/// Warns of initializers and functions that nothing uses, and of imported versions that are not known.
void check_unused_definitions(const Model& model, Report& report);

/// Warns, as upstream does, of those of `inputs` of the main graph, in order of their names, and of nodes,
/// likewise, that no output depends on.
void check_unused(const Graph& graph, const std::vector<std::string>& inputs, Report& report);
/// The nodes that an output depends on, in order.
std::vector<const Node*> used_nodes(const Graph& graph);

}  // namespace assay::lint
