// Saved arrays as text, in Polygraphy's layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/tensor.h"

namespace assay {

/// What array_text() shows beside name, type, shape and statistics.
struct ArrayTextOptions {
  bool values = false;
  bool histogram = false;
  int64_t edge_items = 3;   ///< values shown at either end of an axis of a long array; -1: all
  int64_t line_width = 75;  ///< columns of the values; -1: lines break only at the ends of axes
};

/// The lines about one array, each after a line end: `NAME [dtype=.., shape=..] | Stats: ...` one level less
/// indented than what follows, the histogram, the values. `level` (from 1) is the indentation of those.
std::string array_text(std::string_view name, const Tensor& tensor, const ArrayTextOptions& options,
                       int level);

}  // namespace assay
