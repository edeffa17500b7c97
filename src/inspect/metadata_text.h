// What a model says of itself: where it comes from, and what was noted in it.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// IR version, producer, domain, version, description and metadata of the model; with `details`, also the
/// metadata of its graph, nodes and tensors, and of those of its bodies and functions.
std::string metadata_text(const Model& model, bool details);

}  // namespace assay
