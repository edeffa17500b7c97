// New shapes for the inputs of a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Sets the shapes of tensors of the main graph and turns those that are not inputs into inputs, as
/// Polygraphy's --override-input-shapes does; a node left without outputs is removed. The shapes of all other
/// tensors that nodes compute become unknown, and of outputs the extents: infer them again. Throws Error
/// (kNotFound) that suggests the nearest names.
void override_input_shapes(Model& model, const std::vector<std::pair<std::string, Dims>>& shapes);

/// Makes the shapes of all tensors that nodes compute unknown, those
/// in subgraphs included. Outputs of the model keep their declared
/// rank, which ONNX's checker requires; inference detects a wrong one.
void forget_shapes(Graph& graph);

}  // namespace assay
