// Errors that say at which node they happened.
#pragma once

#include <exception>
#include <string>

#include "assay/graph.h"

namespace assay {

/// To be called while an exception is handled. Rethrows an Error with the node (its label()) as the next
/// place, unless that is the last already; what the standard library throws (memory that is refused, a list
/// that is too long) as an Error that says so.
[[noreturn]] void rethrow_at_node(const std::string& label);

/// Runs body; whatever it throws leaves as an Error that names the node.
template <typename Body>
decltype(auto) at_node(const Node& node, Body&& body) {
  try {
    return body();
  } catch (const std::exception&) {
    rethrow_at_node(node.label());
  }
}

}  // namespace assay
