// Linear models: X C^T + b.
#pragma once

#include <type_traits>

#include "ops/ml/features.h"
#include "ops/numerics/running_error.h"

namespace assay {

/// The attributes `coefficients`, row by row, and `intercepts`, one for each row or none. A row has as many
/// coefficients as the input has features; the rest is not used, as in ONNX Runtime.
struct LinearModel {
  /// Throws Error when the sizes do not fit.
  LinearModel(const OpContext& c, int64_t row_count);
  /// To be called before score(). Throws Error when there are too few coefficients for the input's features.
  void take_features(const OpContext& c, int64_t count);

  /// The score of row r for features; N is double or Rounded.
  template <typename N>
  N score(int64_t r, const double* x) const {
    N sum = intercepts.empty() ? 0.0 : intercepts[static_cast<size_t>(r)];
    const double* row = coefficients.data() + r * features;
    int64_t f = 0;
    if constexpr (std::is_same_v<N, double>) {
      // Independent sums do not wait for each other.
      constexpr int64_t kSums = 8;
      double sums[kSums] = {};
      for (; f + kSums <= features; f += kSums) {
#pragma omp simd
        for (int64_t i = 0; i < kSums; ++i) sums[i] += row[f + i] * x[f + i];
      }
      for (const double s : sums) sum += s;
    }
    for (; f < features; ++f) sum += N(row[f]) * N(x[f]);
    return sum;
  }

  int64_t rows, features = 0;
  std::vector<double> coefficients, intercepts;
};

}  // namespace assay
