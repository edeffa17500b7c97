// Tensors of subgraphs as outputs of the nodes that hold them.
#pragma once

#include <span>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Gives each tensor in the body of a Loop, Scan or If a tensor of the main graph that holds what it was: the
/// values of all iterations stacked along a new first axis for Loop and Scan; for If its value, or a tensor
/// without elements when the other branch ran. Types must have been inferred. It is named by its path,
/// `<node>::<tensor>`. A tensor of the main graph stands for itself. Throws Error (kInvalidArgument) for one
/// in the body of a local function, or of an operator that hands out nothing more, and for a branch's tensor
/// of unknown type.
std::vector<Value*> expose_values(Model& model, std::span<Value* const> values);

}  // namespace assay
