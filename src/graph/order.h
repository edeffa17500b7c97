// Topological order of a graph's nodes.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Reorders the nodes so that each comes after the producers of its inputs, those that its subgraphs capture
/// included. A sorted graph is unchanged; otherwise the result is the depth-first order over the list of
/// nodes. Throws Error (kInvalidModel) that names the nodes of a cycle.
void sort_topologically(Graph& graph);

/// The order in which a depth-first walk over the list of nodes finishes them, each node's dependencies
/// first. Throws Error (kInvalidModel) that names the nodes of a cycle.
std::vector<Node*> depth_first_order(const Graph& graph);

/// Values of `graph` that a node uses: its inputs, and those that its subgraphs capture. No duplicates.
std::vector<Value*> used_values(const Node& node);

/// The same with values of the graphs around the node's own.
std::vector<Value*> all_used_values(const Node& node);

/// Outer values that a graph, including subgraphs, captures: inputs of nodes, and graph outputs. In the
/// order of their first use, no duplicates.
std::vector<Value*> captured_values(const Graph& graph);

/// Throws Error (kInvalidModel) when subgraphs of the model or its functions nest deeper than
/// onnx::kMaxGraphDepth. Check it before recursing into subgraphs.
void check_depth(const Model& model);
void check_depth(const Graph& graph);

}  // namespace assay
