// The commonest end of a convolution: something is added, and the sum is bounded.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct FinishRows {
  float low, high;  ///< infinite: no bound
};

/// y[r, c] = clip(x[r, c] + addend[r, c]) for columns of rows that lie so far apart. `addend` may be null.
/// NaN stays NaN.
void finish_rows(const FinishRows& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
                 const float* addend, int64_t addend_stride, float* y, int64_t y_stride) noexcept;

}  // namespace assay::kernels
