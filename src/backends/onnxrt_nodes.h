// Single nodes on ONNX Runtime.
#pragma once

#include <memory>

#include "reference/foreign_nodes.h"

namespace assay {

/// Has ONNX Runtime evaluate nodes of the model whose operators are unknown here, those that hold no subgraph, and
/// warns of each operator once. Null where ONNX Runtime cannot be used.
std::shared_ptr<ForeignNodes> onnxrt_nodes(std::shared_ptr<const Model> model);

}  // namespace assay
