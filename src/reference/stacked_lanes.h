// Noisy lanes of products with what all lanes have in common, such as weights, and of functions of single
// elements: from the exact result and what the lanes differ by.
#pragma once

#include <span>
#include <vector>

#include "reference/evaluate.h"

namespace assay {

/// Outputs of a node for several inputs 0, one a lane, of which the first gave `y`; all other inputs, those
/// of `inputs`, are the same in all lanes. What the lanes differ by is multiplied at once and in float32: it
/// need not be known to more digits. Functions of input 0 alone are computed from y and the distance of the
/// lane (Numerics::beside). Entry i is of lane i + 1. Empty where the operator allows no such thing, and
/// where float32 has not the range.
std::vector<Tensor> stacked_lanes(const Node& n, BoundOp op, std::span<const Tensor> inputs,
                                  std::span<const Tensor> lanes, const Tensor& y);

}  // namespace assay
