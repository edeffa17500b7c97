// What a Clip keeps its results between: attributes before opset 11, inputs from there on.
#pragma once

#include <optional>

#include "assay/graph.h"

namespace assay {

/// Bounds of a Clip that are known; infinite where there is none.
struct ClipBounds {
  double low, high;

  /// Whether no result is negative. The upper bound wins where the two are the wrong way round.
  bool are_non_negative() const { return low >= 0 && high >= 0; }
};

/// Nothing for other operators, and where a bound is not a constant number.
std::optional<ClipBounds> clip_bounds(const Node& n);

/// Whether the node's results are at least 0 or NaN: Relu, Sigmoid, a Clip that says so.
bool gives_no_negative(const Node& n, const Model& model);

}  // namespace assay
