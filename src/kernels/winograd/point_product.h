// The matrix products of a Winograd convolution: float32 sums in parts, so that they round less than what
// the transforms around them magnify.
#pragma once

#include <cstdint>

#include "kernels/panel/panel_product.h"

namespace assay::kernels {

/// Products that are summed up before they join the sum of all: rounding errors of a sum of k numbers grow
/// with the parts' length and number, not with k (N. J. Higham, The Accuracy of Floating Point Summation,
/// SIAM J. Sci. Comput. 14(4), 1993, on blocked sums).
inline constexpr int64_t kPointPart = 16;

/// sums[r, c] = sum over k of a[r, k] * matrix[k, c] for the columns of `count` panels from `panel` on,
/// columns beyond n included. The matrix is of float32 and packed by panels. Rows of `a` are `a_stride`
/// apart, rows of `sums` `stride`.
void point_product(const PanelMatrix& matrix, const float* packed, int64_t panel, int64_t count,
                   const float* a, int64_t a_stride, int64_t rows, float* sums, int64_t stride) noexcept;

}  // namespace assay::kernels
