// Noisy lanes of products with operands common to all lanes, such as weights, and of element-wise functions,
// computed from the exact result and the lanes' differences.
#pragma once

#include <span>
#include <vector>

#include "reference/evaluate.h"

namespace assay {

/// Outputs of a node for several inputs 0, one a lane, of which the first gave `y`; all other inputs, those
/// of `inputs`, are the same in all lanes. The lanes' differences are multiplied together and in float32,
/// which is precise enough. Functions of input 0 alone are computed from y and the distance of the lane
/// (`Numerics::beside`). Entry i is for lane i + 1. Empty if the operator does not support this, or
/// float32's range is not sufficient.
std::vector<Tensor> stacked_lanes(const Node& n, BoundOp op, std::span<const Tensor> inputs,
                                  std::span<const Tensor> lanes, const Tensor& y);

}  // namespace assay
