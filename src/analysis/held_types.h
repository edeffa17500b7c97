// Nodes that are held in an element type: passes neither merge them with nodes that are held in another one,
// nor rewrite them in a way that leaves the type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Key of Node::metadata: dtype_name() of the element type that the node is to compute in.
inline constexpr std::string_view kHeldKey = "assay.held";

/// Key of Node::metadata: the types that its outputs are to be stored in, by position and separated by
/// blanks;
/// `-` where nothing is said.
inline constexpr std::string_view kHeldOutputsKey = "assay.held_outputs";

/// Empty for a node that is not held.
std::string_view held_type(const Node& n);
/// Empty: it is held no longer.
void set_held_type(Node& n, std::string_view dtype);

std::vector<std::string> held_outputs(const Node& n);
void set_held_outputs(Node& n, const std::vector<std::string>& dtypes);

/// Held in a floating-point type: its numbers may not be taken as 8-bit levels.
inline bool is_held_in_floats(const Node& n) {
  const std::string_view type = held_type(n);
  return !type.empty() && type != dtype_name(DType::kInt8);
}

/// Two of the nodes are held in different types, so that they may not become one.
bool are_held_apart(const std::vector<Node*>& nodes);

/// Whether a node of the main graph has one of these records.
bool has_held_types(const Model& model);
/// Forgets all of these records.
void remove_held_types(Model& model);

}  // namespace assay
