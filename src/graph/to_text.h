// Writes Models in ONNX's text form (docs/reference/text.md), which onnx/text/reader.h reads.
#pragma once

#include <string>

#include "assay/graph.h"
#include "graph/text_options.h"

namespace assay {

/// The location of a tensor's elements in a file, with the keys of TensorProto.external_data.
struct TextPlace {
  std::string location;
  size_t offset = 0, length = 0;
  std::string checksum;  ///< of the whole file; empty: none is written
};

struct TextOptions {
  /// Maximum number of elements shown of each tensor and list attribute, followed by `...`, which no reader
  /// accepts. -1: all, so that load_model() reads back an equal model.
  int64_t max_elements = -1;
  /// Called for each initializer with data: a location is written instead of its elements. Null: none has
  /// one.
  std::function<std::optional<TextPlace>(const Value&)> place;
  /// For terminals: line ends and control characters within quotes are escaped as \n, \x1b and the like, so
  /// that no name can look like a line. Reading such a text restores the names.
  bool visible = false;
};

/// The model as text. Properties without syntax (doc strings and metadata of nodes and values, the bits of a
/// NaN, ...) are in comments that load_model() understands and other readers skip. Initializers
/// whose data were not loaded show `...`. Throws Error (kInvalidModel) when subgraphs nest deeper than
/// onnx::kMaxGraphDepth.
std::string to_text(const Model& model, const TextOptions& options = {});

}  // namespace assay
