// The one language in which command lines name tensors and nodes.
//
//   NAME            the tensor or node of exactly that name; this comes first, whatever characters it holds
//   GLOB            all whose names match: `*` any characters, `?` one, `[a-c]` one of these
//   re:REGEX        all whose whole names match the RE2 expression
//   op:OPERATOR     all nodes of an operator (`op:Conv`, `op:com.microsoft.Gelu`), or their outputs
//   PATH::SPEC      any of these inside a subgraph. PATH is the name of the node that holds it, and of its
//                   attribute where it holds several (`loop::x`, `if_3::then_branch::x`), and so on inwards;
//                   or `function:NAME` for the body of a local function. A node without a name goes by the
//                   name of an output. naming/graph_path.h follows paths.
//
// docs/reference/selectors.md tells users, and which options take it.
#pragma once

#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The selected tensors, in the order of the graph, all of one graph. Throws Error (kNotFound) that
/// suggests the nearest names when there is none, and Error (kInvalidArgument) for a regular expression that
/// is wrong.
std::vector<Value*> select_values(Model& model, std::string_view spec);

/// The same for nodes.
std::vector<Node*> select_nodes(Model& model, std::string_view spec);

/// Inputs of the main graph: the one of that name, else those that a GLOB or REGEX matches. Throws Error
/// (kNotFound) that lists the inputs, or suggests the nearest.
std::vector<Value*> select_inputs(const Model& model, std::string_view spec);

}  // namespace assay
