// Nodes with a requested element type: passes neither merge them with nodes of another one, nor rewrite them
// in a way that changes the type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Key of Node::metadata: dtype_name() of the element type in which the node must compute.
inline constexpr std::string_view kHeldKey = "assay.held";

/// Key of Node::metadata: the types in which
/// its outputs must be stored, by position and
/// separated by blanks; `-` where not set.
inline constexpr std::string_view kHeldOutputsKey = "assay.held_outputs";

/// Empty without a requested type.
std::string_view held_type(const Node& n);
/// Empty: removes the request.
void set_held_type(Node& n, std::string_view dtype);

std::vector<std::string> held_outputs(const Node& n);
void set_held_outputs(Node& n, const std::vector<std::string>& dtypes);

/// True for a requested floating-point type: its values may not be quantized.
inline bool is_held_in_floats(const Node& n) {
  const std::string_view type = held_type(n);
  return !type.empty() && type != dtype_name(DType::kInt8);
}

/// True when two of the nodes have different requested types, so that they may not be merged.
bool are_held_apart(const std::vector<Node*>& nodes);

/// True when a node of the main graph has one of these records.
bool has_held_types(const Model& model);
/// Removes all of these records.
void remove_held_types(Model& model);

}  // namespace assay
