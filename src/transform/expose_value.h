// Exposes tensors of subgraphs as outputs of the nodes that own them.
#pragma once

#include <span>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Returns for each tensor in the body of a Loop, Scan or If a tensor of the main graph with its values: the
/// values of all iterations stacked along a new first axis for Loop and Scan, or in a sequence if its shape
/// may vary between iterations of a Loop (opset 13); for If its value, or no elements when the other branch
/// ran. Types must have been inferred. It is named by its path, `<node>::<tensor>`. A tensor of the main
/// graph is returned itself. Throws Error (kInvalidArgument) for one in the body of a local function, or of
/// an operator without additional outputs, for a branch's tensor of unknown type, and for a sequence
/// in a Loop or Scan.
std::vector<Value*> expose_values(Model& model, std::span<Value* const> values);

/// The same; null for a value that cannot be exposed.
std::vector<Value*> expose_where_possible(Model& model, std::span<Value* const> values);

}  // namespace assay
