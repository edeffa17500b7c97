// A result that its node's bounds explain, found in one pass: what nearly all results are.
#pragma once

#include <optional>

#include "arbiter/judgement.h"

namespace assay {

/// The deviation of a result, in its stored type, from what its node gives on its own inputs, when every
/// element lies within the bounds of `standard`; with what is explained at the worst element. None where one
/// does not, where something is not finite, and where noisy evaluations or a narrow type ask for more:
/// explained_for() and deviation() say then.
struct WithinBounds {
  Deviation deviation;
  double explained = 0, exact = 0, result = 0;  ///< at the worst element
};
std::optional<WithinBounds> within_bounds(const Tensor& result, const Standard& standard);

/// The largest distance of two tensors of one shape of floats, the second one in float64, and where it is
/// first reached; -1 where they are equal. A NaN beside a number is infinitely far.
struct Distance {
  double most = 0;
  int64_t at = -1;
};
Distance largest_distance(const Tensor& result, const Tensor& exact);

}  // namespace assay
