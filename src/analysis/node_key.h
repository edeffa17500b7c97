// Keys for comparing nodes and constants: equal ones have equal keys.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// Appends type, extents and elements of a constant of few bytes; false, and nothing, for all other values.
bool append_small_constant(std::string& key, const Value* v);

/// Appends a node's attributes, whatever their order. False when one is of a kind, or a length, that is not
/// compared.
bool append_attributes(std::string& key, const Node& n);

}  // namespace assay
