// Products of a few rows with a large matrix: bound by memory, so the matrix is read once, in place.
#pragma once

#include <cstdint>

#include "assay/dtype.h"

namespace assay::kernels {

/// Most rows that the functions below take.
inline constexpr int64_t kMaxGemvRows = 4;

struct GemvMatrix {
  const void* data;
  DType type = DType::kFloat32;  ///< or float16, bfloat16: widened to float32 as they are read
};

/// Parts that gemv_columns() should be cut into for this many threads.
int64_t gemv_columns_parts(int64_t m, int64_t n, int64_t k, int64_t threads);

/// y[m, n] = bias[n] + sum over k of x[m, k] * b[k, n], everything row-major; bias may be null. The matrix is
/// cut into `parts` pieces of whole rows, so that each thread reads one contiguous stretch of memory;
/// `scratch` has room for (parts - 1) * m * n numbers. The result depends on `parts`, not on the threads.
void gemv_columns(int64_t m, int64_t n, int64_t k, const float* x, const GemvMatrix& b, const float* bias,
                  float* y, float* scratch, int64_t parts) noexcept;

/// The same for a matrix stored transposed: y[m, n] = bias[n] + sum over k of x[m, k] * b[n, k].
void gemv_rows(int64_t m, int64_t n, int64_t k, const float* x, const GemvMatrix& b, const float* bias,
               float* y) noexcept;

}  // namespace assay::kernels
