// Tensors of subgraphs as outputs of the nodes that hold them.
#pragma once

#include <span>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Gives each tensor in the body of a Loop, Scan or If a tensor of the main graph that holds what it was: the
/// values of all iterations stacked along a new first axis for Loop and Scan, or in a sequence where each
/// iteration of a Loop may give another shape (opset 13); for If its value, or nothing (no elements) when the
/// other branch ran. Types must have been inferred. It is named by its path, `<node>::<tensor>`. A tensor of
/// the main graph stands for itself. Throws Error (kInvalidArgument) for one in the body of a local function,
/// or of an operator that hands out nothing more, for a branch's tensor of unknown type, and for a sequence
/// in a Loop or Scan.
std::vector<Value*> expose_values(Model& model, std::span<Value* const> values);

/// The same; null for a value that cannot be exposed.
std::vector<Value*> expose_where_possible(Model& model, std::span<Value* const> values);

}  // namespace assay
