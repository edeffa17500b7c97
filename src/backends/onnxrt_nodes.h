// Single nodes on ONNX Runtime.
#pragma once

#include <memory>

#include "reference/foreign_nodes.h"

namespace assay {

/// Has ONNX Runtime, where it can be used, evaluate nodes of the model whose operators are unknown here,
/// those that hold no subgraph, and warns of each operator once.
std::shared_ptr<ForeignNodes> onnxrt_nodes(std::shared_ptr<const Model> model);

}  // namespace assay
