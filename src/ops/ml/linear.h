// Linear models: X C^T + b.
#pragma once

#include "ops/ml/features.h"
#include "ops/running_error.h"

namespace assay {

/// The attributes `coefficients`, `rows` times F, row by row, and `intercepts`, one for each row or none.
struct LinearModel {
  /// Throws Error when the sizes do not fit.
  LinearModel(const OpContext& c, int64_t row_count);
  /// Throws Error when the input has another number of features.
  void check_features(const EvalContext& c, const Features& x) const;

  /// The score that row r gives to features; N is double or Rounded.
  template <typename N>
  N score(int64_t r, const double* x) const {
    N sum = intercepts[static_cast<size_t>(r)];
    const double* row = coefficients.data() + r * features;
    for (int64_t f = 0; f < features; ++f) sum += N(row[f]) * N(x[f]);
    return sum;
  }

  int64_t rows, features;
  std::vector<double> coefficients, intercepts;
};

}  // namespace assay
