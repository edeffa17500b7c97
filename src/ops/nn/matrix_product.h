// The matrix product of numpy.matmul: the last two dimensions multiply, the others broadcast; a vector is a
// row on the left and a column on the right. MatMul and the integer and quantized products share it.
#pragma once

#include <optional>

#include "kernels/approx_gemm/approx_gemm.h"
#include "ops/op_context.h"

namespace assay {

/// The product's extents as far as they are known; nothing when a rank is not. Throws Error when the inner
/// extents differ.
std::optional<Dims> infer_product_dims(const InferContext& c, size_t a, size_t b);

/// Of two tensors of one type: double, or an integer type of 32 or 64 bits, whose sums wrap. Parallel.
Tensor matrix_product(const Tensor& a, const Tensor& b);

/// The product of two tensors in double, or of their magnitudes, in float32
/// (kernels/approx_gemm/approx_gemm.h). None where float32 lacks the range, for other types, and for several
/// pairs of matrices.
std::optional<Tensor> rough_matrix_product(kernels::ApproxOf what, const Tensor& a, const Tensor& b);

}  // namespace assay
