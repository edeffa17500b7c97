// Converts a model of an older opset to a newer one.
#pragma once

#include <cstdint>

#include "assay/graph.h"

namespace assay {

/// Converts a model below an opset to it, keeping origins of nodes. False when there is nothing to do. Throws
/// Error (kUnsupported) naming the node that the opset cannot express.
bool raise_opset(Model& model, int64_t opset);

}  // namespace assay
