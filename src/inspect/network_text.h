// An ONNX model as a network of TensorRT's layers, in Polygraphy's layout.
#pragma once

#include <string>
#include <string_view>

#include "inspect/model_text.h"

namespace assay {

/// The name of TensorRT's layer type for an operator of ONNX: CONVOLUTION; PLUGIN_V3 where TensorRT has none.
std::string_view layer_type(const Node& node);

/// The text below the title `==== TensorRT Network ====`: one layer for each node, and one for each constant
/// that is not a weight of its layer. (TensorRT's own parser may make several layers of a node.)
std::string network_text(const Model& model, const ModelTextOptions& options = {});

}  // namespace assay
