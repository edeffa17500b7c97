// From Models to ONNX's text form. docs/reference/text.md describes the syntax; onnx/text/reader.h reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "assay/graph.h"

namespace assay {

/// Where a tensor's elements lie in a file, in the words of TensorProto.external_data.
struct TextPlace {
  std::string location;
  size_t offset = 0, length = 0;
  std::string checksum;  ///< of the whole file; empty: none is written
};

struct TextOptions {
  /// Elements shown of each tensor and of each attribute that is a list; of longer ones, so many and `...`,
  /// which is for people: no reader takes it. -1: all, so that load_model() gives back an equal model.
  int64_t max_elements = -1;
  /// Asked for each initializer that has data: a place is written instead of its elements. Null: none has
  /// one.
  std::function<std::optional<TextPlace>(const Value&)> place;
  /// For terminals: line ends and control characters within quotes are shown as \n, \x1b and the like, so
  /// that no name can pass for a line of its own. Reading such a text gives those names.
  bool visible = false;
};

/// The model as text. What the syntax has no place for (doc strings and metadata of nodes and values, the
/// bits of a NaN, ...) stands in comments that load_model() understands and other readers skip. Initializers
/// whose data were not loaded show `...`. Throws Error (kInvalidModel) when subgraphs nest deeper than
/// onnx::kMaxGraphDepth.
std::string to_text(const Model& model, const TextOptions& options = {});

}  // namespace assay
