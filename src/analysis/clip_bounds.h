// The bounds of a Clip: attributes before opset 11, inputs since.
#pragma once

#include <optional>

#include "assay/graph.h"

namespace assay {

/// Known bounds of a Clip; infinite without a bound.
struct ClipBounds {
  double low, high;

  /// True when no result is negative. The upper bound wins if the two are reversed.
  bool are_non_negative() const { return low >= 0 && high >= 0; }
};

/// Nothing for other operators, and if a bound is not a constant.
std::optional<ClipBounds> clip_bounds(const Node& n);

/// True when the node's results are at least 0 or NaN: Relu, Sigmoid, a Clip with such bounds.
bool gives_no_negative(const Node& n, const Model& model);

}  // namespace assay
