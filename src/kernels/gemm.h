// Row-major matrix product for the reference: C[m,n] = A[m,k] * B[k,n], overwriting C.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Vectorised and parallel. Accumulates in double with at most k roundings per element. lda, ldb, ldc are row strides in
/// elements; C must not overlap A or B.
void gemm(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc);

/// Integers wrap, as ONNX's integer MatMul does.
template <typename T>
void gemm(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      uint64_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += static_cast<uint64_t>(a[i * lda + p]) * static_cast<uint64_t>(b[p * ldb + j]);
      c[i * ldc + j] = static_cast<T>(sum);
    }
}

}  // namespace assay::kernels
