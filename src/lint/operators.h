// Checks that every node is a valid use of its operator, and that its declared output types are correct.
#pragma once

#include <string>
#include <vector>

#include "assay/graph.h"
#include "lint/report.h"

namespace assay::lint {

/// Checks operators, opsets, arity, attributes and element types of every node, subgraphs and function bodies
/// included, then infers all types and compares them with the declared ones. Inference errors of a node that
/// a backend has already refused (kRuntimeError) are omitted. The types of the model's values are those
/// inferred afterwards. `has_run`: a backend has run the whole model, so that it has all operators.
void check_operators(Model& model, bool has_run, Report& report);

/// Warns of unused initializers and functions, and of unknown imported versions.
void check_unused_definitions(const Model& model, Report& report);

/// Warns, as upstream does, of `inputs` of the main graph and of nodes that no output depends on, each sorted
/// by name.
void check_unused(const Graph& graph, const std::vector<std::string>& inputs, Report& report);
/// The nodes that an output depends on, in order.
std::vector<const Node*> used_nodes(const Graph& graph);

}  // namespace assay::lint
