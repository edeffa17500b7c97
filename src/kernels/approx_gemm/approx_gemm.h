// Products of numbers in double, computed in float32: for magnitudes and errors, which need no more than a
// few digits. Twice as fast as kernels/gemm.h.
#pragma once

#include <cstdint>

#include "kernels/conv.h"
#include "kernels/gemm.h"

namespace assay::kernels {

/// The part of the operands that is multiplied.
enum class ApproxOf : uint8_t { kValues, kMagnitudes };

/// C[m,n] = A[m,k] * B[k,n], or |A| * |B|, each element to about (k + 4) 2^-24 |A| |B|, whatever the size of
/// the numbers: both operands are scaled by powers of two. False, with C unchanged, where float32 lacks the
/// range: an operand holds an infinity or NaN, or numbers other than 0 below 2^-60 of its largest. C must
/// not overlap A or B. Parallel.
bool approx_gemm(ApproxOf what, int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c,
                 int64_t ldc);

/// convolve() without a bias, in the same way. False as well where it is not a product of matrices: one
/// channel in a group.
bool approx_convolve(ApproxOf what, const ConvSize& size, const Window& window, const double* x,
                     const double* w, double* y);

}  // namespace assay::kernels
