// Integer operands of products: quantized values less their zero points, as float64, in which their products
// and sums are exact.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// The matrices of input i less the zero point in input z (none: 0): a scalar; a vector with one element per
/// row or, with `by_column`, per column; or a tensor of the matrices' rank that broadcasts to them. Throws
/// Error for other shapes.
Tensor quantized_matrix(const EvalContext& c, size_t i, size_t z, bool by_column);
/// A parameter in input z (scale or zero point) in a shape that broadcasts to the matrices of input i, by the
/// same rules.
Tensor matrix_parameter(const EvalContext& c, size_t i, size_t z, bool by_column);

/// The data of input i less the scalar in input z.
Tensor quantized_data(const EvalContext& c, size_t i, size_t z);
/// The weights [M, ...] of input i less the scalar, or the vector of M elements, in input z.
Tensor quantized_weights(const EvalContext& c, size_t i, size_t z);

/// The one number in input i, a scale or zero point of the whole tensor. Throws Error when there are more.
double scalar_parameter(const EvalContext& c, size_t i);

/// Sums, exact in float64, as an accumulator's 32-bit integers; they wrap.
Tensor to_int32(const Tensor& sums);

}  // namespace assay
