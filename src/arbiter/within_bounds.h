// Single-pass check of results that are within their node's bounds, which nearly all are.
#pragma once

#include <optional>

#include "arbiter/judgement.h"

namespace assay {

/// The deviation of a result, in its stored type, from the node's exact result on its own inputs, when every
/// element is within the bounds of `standard`, with the explained error at the worst element. None if one is
/// not, if something is not finite, and if noisy evaluations or a narrow type need more: then use
/// explained_for() and deviation().
struct WithinBounds {
  Deviation deviation;
  double explained = 0, exact = 0, result = 0;  ///< at the worst element
};
std::optional<WithinBounds> within_bounds(const Tensor& result, const Standard& standard);

/// The largest distance of two tensors of one shape of floats, the second one in float64, and its first
/// position; -1 if they are equal. The distance of NaN to a number is infinite.
struct Distance {
  double most = 0;
  int64_t at = -1;
};
Distance largest_distance(const Tensor& result, const Tensor& exact);

}  // namespace assay
