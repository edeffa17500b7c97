// Maps ONNX operators to TensorRT's layers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "assay/graph.h"

namespace assay {

/// The name of TensorRT's layer type for an operator of ONNX: CONVOLUTION; PLUGIN_V3 if TensorRT has none.
std::string_view tensorrt_layer_type(const Node& node);

/// Makes the results of all nodes of the main graph whose layers are of these types the outputs, in node
/// order; adds them to the existing ones if `add`. Ignores case. Throws Error (kNotFound) for a type that no
/// node has, with suggestions.
void mark_outputs_by_layer_type(Model& model, std::span<const std::string> types, bool add);

}  // namespace assay
