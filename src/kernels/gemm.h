// Matrix products of the reference, in double: C[m,n] = A[m,k] * B[k,n].
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace assay::kernels {

/// A read-only matrix at any element strides, so that a transposed operand needs no copy.
struct MatrixView {
  const double* data;
  int64_t row_stride;
  int64_t column_stride;
};

/// A right-hand matrix that is not stored as one, such as the columns of a convolution.
class PanelSource {
 public:
  virtual ~PanelSource() = default;
  /// Writes the block of rows [row, row + rows) and columns [column, column + columns) as panels of `width`
  /// columns, one after the other: element (r, c) of the block goes to out[c / width * rows * width + r *
  /// width + c % width]. The last panel's columns beyond `columns` are zeros. Called from several threads
  /// concurrently.
  virtual void pack(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width,
                    double* out) const = 0;
};

/// Overwrites C, whose rows are ldc elements apart; C must not overlap A or B. Vectorized for the CPU it runs
/// on and parallel, unless called from within a parallel_for. Each element is summed in double, with at most
/// k roundings; a product with infinity or NaN is as IEEE 754 has it. For k = 0, C is zero.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c, int64_t ldc);
/// The same with B from a source. Each thread requests every block of B that it needs once.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView a, const PanelSource& b, double* c, int64_t ldc);
/// Row-major operands; lda and ldb are row strides in elements.
inline void gemm(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                 double* c, int64_t ldc) {
  gemm(m, n, k, MatrixView{a, lda, 1}, MatrixView{b, ldb, 1}, c, ldc);
}

/// Integers wrap, as ONNX's integer MatMul does.
template <typename T>
void gemm(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c,
          int64_t ldc) {
  using Sum = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  for (int64_t i = 0; i < m; ++i) {
    T* const row = c + i * ldc;
    std::fill_n(row, n, T(0));
    for (int64_t p = 0; p < k; ++p) {
      const auto factor = static_cast<Sum>(a[i * lda + p]);
      const T* const other = b + p * ldb;
#pragma omp simd
      for (int64_t j = 0; j < n; ++j)
        row[j] = static_cast<T>(static_cast<Sum>(row[j]) + factor * static_cast<Sum>(other[j]));
    }
  }
}

}  // namespace assay::kernels
