// The vector code under approx_gemm.cpp, compiled for several instruction sets and chosen once at run time.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct Extremes {
  double largest = 0,
         least = 0;  ///< magnitudes, of which `least` is the smallest above 0; infinite where all are 0
  bool finite = true;
};

/// The tile that the chosen instruction set multiplies with.
struct ApproxTile {
  int64_t rows;   ///< of a full tile of A; a tile has this many, or a smaller power of two
  int64_t width;  ///< columns of a panel of B

  /// C[rows, vectors of columns] = A * B, or += when `add`. A: k columns of `rows` elements (1, 2, 4 or 8);
  /// B: k rows of `width` elements. C gets all columns of the vectors that hold the first `columns`.
  void (*multiply)(int64_t rows, int64_t columns, int64_t k, const float* a, const float* b, float* c,
                   int64_t ldc, bool add);
  /// out[i] = x[i] * scale, or |x[i]| * scale.
  void (*round)(bool magnitudes, const double* x, int64_t count, double scale, float* out);
  /// out[i] = x[i] * scale.
  void (*widen)(const float* x, int64_t count, double scale, double* out);
  Extremes (*extremes)(const double* x, int64_t count);
};

/// The code for this CPU.
const ApproxTile& approx_tile();

}  // namespace assay::kernels
