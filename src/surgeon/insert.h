// Replaces the nodes between given tensors by a new node.
#pragma once

#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The node to insert.
struct InsertedNode {
  std::string op_type, name, domain;
  std::vector<std::string> inputs, outputs;
  AttributeList attributes;
};

/// Inserts the node after the last producer of its inputs and removes what no longer contributes to the
/// graph's outputs, as Polygraphy's `surgeon insert` does. An output that is also an input, or that is a
/// graph input, gets a new tensor
/// `<name>_polygraphy_surgeon_insert_output`, which the consumers of the old one then use; for a graph
/// output, which keeps its name, the old tensor is renamed. Throws Error: kNotFound for a name
/// that does not exist, kInvalidArgument when the edges would form a cycle, with the nodes on it, and for an
/// input type that a known operator does not accept.
Node* insert_node(Model& model, const InsertedNode& node);

}  // namespace assay
