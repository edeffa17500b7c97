// Infinities that a node makes in addition to those that it was given.
#pragma once

#include <span>

#include "assay/graph.h"
#include "debug/non_finite_count.h"

namespace assay::debug {

/// Of an operator that computes element by element: the infinite elements of its result of which no operand
/// is infinite, such as a score that overflows where others are masked. Of other operators none is found.
NonFiniteCount new_infinities(const Node& n, const Model& model, std::span<const Tensor> inputs,
                              const Tensor& output);

}  // namespace assay::debug
