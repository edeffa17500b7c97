// A model's own description: its origin and notes.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// IR version, producer, domain, version, description and metadata of the model; with `details`, also the
/// metadata of its graph, nodes and tensors, and of those of its bodies and functions.
std::string metadata_text(const Model& model, bool details);

}  // namespace assay
