// Operators that round a scaled number to a step: the scale's own rounding decides ties.
#pragma once

#include <vector>

#include "assay/graph.h"
#include "assay/tensor.h"
#include "ops/op_facts.h"

namespace assay {

/// The input that scales values before the node rounds them to integers; -1 when it does not, or omits it.
int quantisation_scale_input(const Node& n, const OpFacts& facts);

/// The spacing of a DequantizeLinear's results, as a tensor that broadcasts over its result of this shape;
/// undefined for other nodes and blockwise scales.
Tensor dequantised_step(const Node& n, const Tensor& scale, const Shape& shape);

/// Number of roundings of the value before it is rounded to a step.
inline constexpr double kScaleUlps = 8;

/// The inputs of such a node, shifted so that the value to be rounded moves towards 0 (`side` 1) or away from
/// it (-1) by kScaleUlps roundings: the scale, by the unit `u`, and for
/// QuantizeLinear x, too, because backends measure it from the end of the range (OpenVINO's FakeQuantize),
/// where its rounding is relative to that. float64; unchanged where the scale is not a float.
std::vector<Tensor> with_moved_quotient(const Node& n, const OpFacts& facts, std::vector<Tensor> inputs,
                                        double side, double u);

}  // namespace assay
