// Writes Models in ONNX's text form (docs/reference/text.md), which onnx/text/reader.h reads.
#pragma once

#include <string>

#include "assay/graph.h"
#include "graph/text_options.h"

namespace assay {

/// The model as text. What the syntax has no place for (doc strings and metadata of nodes and values, the
/// bits of a NaN, ...) stands in comments that load_model() understands and other readers skip. Initializers
/// whose data were not loaded show `...`. Throws Error (kInvalidModel) when subgraphs nest deeper than
/// onnx::kMaxGraphDepth.
std::string to_text(const Model& model, const TextOptions& options = {});

}  // namespace assay
