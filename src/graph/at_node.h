// Adds the node to errors.
#pragma once

#include <exception>
#include <string>

#include "assay/graph.h"

namespace assay {

/// Call it in an exception handler. Rethrows an Error with the node (its
/// label()) as the next place, unless it is already the last; exceptions
/// of the standard library (bad_alloc, length_error) become an Error.
[[noreturn]] void rethrow_at_node(const std::string& label);

/// Runs body; converts its exceptions to an Error that names the node.
template <typename Body>
decltype(auto) at_node(const Node& node, Body&& body) {
  try {
    return body();
  } catch (const std::exception&) {
    rethrow_at_node(node.label());
  }
}

}  // namespace assay
