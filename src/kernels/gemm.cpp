#include "kernels/gemm.h"

#include "base/parallel.h"

namespace assay::kernels {

void gemm(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  parallel_for(m, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      double* row = c + i * ldc;
      for (int64_t j = 0; j < n; ++j) row[j] = 0;
      for (int64_t p = 0; p < k; ++p) {
        const double x = a[i * lda + p];
        const double* bp = b + p * ldb;
        for (int64_t j = 0; j < n; ++j) row[j] += x * bp[j];
      }
    }
  });
}

}  // namespace assay::kernels
