// A model of an older opset as one of a newer.
#pragma once

#include <cstdint>

#include "assay/graph.h"

namespace assay {

/// Converts a model below an opset to it; origins of nodes stay known. False when there is nothing to do.
/// Throws Error (kUnsupported) naming the node that the opset cannot say.
bool raise_opset(Model& model, int64_t opset);

}  // namespace assay
