// What of a model its text form (graph/to_text.h) shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "assay/graph.h"

namespace assay {

/// Where a tensor's elements are stored in a file, in the words of TensorProto.external_data.
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

}  // namespace assay
