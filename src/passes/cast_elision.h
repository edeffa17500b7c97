// Integer arithmetic that exporters wrap in Casts to float and back.
#pragma once

#include <cstdint>

#include "assay/graph.h"

namespace assay {

/// Lets Add, Sub, Mul, Div, Max, Min, Concat and the comparisons work on integers where all their inputs are
/// Casts of one integer type to float32 (or constants of whole numbers) and all their results are cast back
/// to that type, if the operator supports integers in the opset that `model` imports. Casts with other uses
/// stay, and so do those for which float32 is not known to compute the same: operands and
/// results are integers of at most 2^24 in magnitude, and no divisor is 0 (IntegerRanges). Returns the number
/// of bypassed Casts.
int64_t elide_shape_casts(Graph& graph, const Model& model);

}  // namespace assay
