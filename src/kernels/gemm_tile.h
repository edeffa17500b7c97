// The vector code under gemm.cpp, compiled for several instruction sets and chosen once at run time.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// The tile that the chosen instruction set multiplies with.
struct TileKernel {
  int64_t rows;   ///< rows of a full tile; a tile has this many, or a smaller power of two
  int64_t width;  ///< columns of a panel of B

  /// C[rows, columns] = A * B, or += when `add`. A: k columns of padded_rows(rows) elements each; B: k rows
  /// of `width` elements; both packed, and padded where the tile is smaller. rows <= this->rows, columns <=
  /// this->width.
  void (*multiply)(int64_t rows, int64_t columns, int64_t k, const double* a, const double* b, double* c,
                   int64_t ldc, bool add);
  /// y[i * y_stride] = sum over p of a[i * row_stride + p] * x[p], for i < m.
  void (*dot_rows)(int64_t m, int64_t k, const double* a, int64_t row_stride, const double* x, double* y,
                   int64_t y_stride);
  /// y[i * y_stride] = sum over p of a[i + p * column_stride] * x[p], for i < m.
  void (*sum_columns)(int64_t m, int64_t k, const double* a, int64_t column_stride, const double* x,
                      double* y, int64_t y_stride);
};

/// The kernel for this CPU.
const TileKernel& tile_kernel();

/// The rows that a packed tile of A has room for: the power of two from `rows` up.
constexpr int64_t padded_rows(int64_t rows) {
  int64_t padded = 1;
  while (padded < rows) padded *= 2;
  return padded;
}

}  // namespace assay::kernels
