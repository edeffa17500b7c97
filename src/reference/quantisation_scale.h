// Operators that round a scaled number to a step: the scale's own rounding decides what lies half-way.
#pragma once

#include <vector>

#include "assay/graph.h"
#include "assay/tensor.h"
#include "ops/op_facts.h"

namespace assay {

/// The input that scales what the node rounds to whole numbers; -1 when it does not, or leaves it out.
int quantisation_scale_input(const Node& n, const OpFacts& facts);

/// How far apart the numbers are that a DequantizeLinear gives, as a tensor that broadcasts over its result
/// of this shape; undefined for other nodes, and where the scale is in blocks.
Tensor dequantised_step(const Node& n, const Tensor& scale, const Shape& shape);

/// A few roundings on the way to the value that is rounded to a step.
inline constexpr double kScaleUlps = 8;

/// The inputs of such a node, moved so that the value that is rounded to a step comes as much nearer to 0
/// (`side` 1) or goes as far from it (-1) as kScaleUlps roundings allow: the scale, by the unit `u`, and for
/// QuantizeLinear x, too, because backends measure it from the end of the range (OpenVINO's FakeQuantize),
/// where it is rounded by the size of that. float64; unchanged where the scale is not a float.
std::vector<Tensor> with_moved_quotient(const Node& n, const OpFacts& facts, std::vector<Tensor> inputs,
                                        double side, double u);

}  // namespace assay
