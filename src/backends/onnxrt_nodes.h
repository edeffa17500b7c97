// Single nodes on ONNX Runtime.
#pragma once

#include <memory>

#include "reference/foreign_nodes.h"

namespace assay {

/// Lets ONNX Runtime, if available, evaluate nodes without subgraphs whose operators are unknown here, and
/// warns of each operator once.
std::shared_ptr<ForeignNodes> onnxrt_nodes(std::shared_ptr<const Model> model);

}  // namespace assay
