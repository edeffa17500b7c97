// New shapes for the inputs of a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Gives tensors of the main graph these shapes and makes those that are not inputs inputs, as Polygraphy's
/// --override-input-shapes does; a node that is left without outputs goes. The shapes of all other tensors
/// that nodes compute become unknown, and of outputs the extents: infer them again. Throws Error (kNotFound)
/// that suggests the nearest names.
void override_input_shapes(Model& model, const std::vector<std::pair<std::string, Dims>>& shapes);

/// Makes the shapes of all tensors that nodes compute unknown, those in subgraphs included. Outputs of the
/// model keep their declared rank, without which ONNX's checker refuses a file; inference finds out when it
/// is wrong.
void forget_shapes(Graph& graph);

}  // namespace assay
