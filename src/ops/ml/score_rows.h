// The loop that the ai.onnx.ml regressors and classifiers share: scores of every row of features.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "ops/ml/features.h"
#include "ops/numerics/running_error.h"
#include "ops/tensor/elements.h"

namespace assay {

/// A matrix of scores, and the class that each row chose (classifiers only).
template <typename N>
struct ScoreRows {
  Shape shape;
  std::vector<N> scores;
  std::vector<size_t> classes;
};

/// Calls f(row of features, span of `width` scores to fill) for each row, in parallel, and keeps what it
/// returns as the row's class. `cost`: multiplications of a row, roughly. Throws Error when the result is too
/// large.
template <typename N, typename F>
ScoreRows<N> score_rows(const Features& x, int64_t width, int64_t cost, F f) {
  ScoreRows<N> out{.shape = {x.rows, width}, .scores = {}, .classes = {}};
  check_output_size(DType::kFloat64, {x.rows, 2, width});  // the scores, and their tensor
  out.scores.resize(static_cast<size_t>(x.rows * width));
  out.classes.resize(static_cast<size_t>(x.rows));
  parallel_for(x.rows, std::max<int64_t>(1, 32768 / std::max<int64_t>(cost, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i)
                   out.classes[static_cast<size_t>(i)] =
                       f(x.row(i), std::span<N>(out.scores.data() + i * width, static_cast<size_t>(width)));
               });
  return out;
}

inline Tensor score_tensor(const ScoreRows<double>& rows) {
  return Tensor::from<double>(rows.shape, rows.scores);
}
/// The scores' errors in an arithmetic with unit roundoff u.
inline Tensor score_errors(const ScoreRows<Rounded>& rows, double u) {
  Tensor t = Tensor::allocate(DType::kFloat64, rows.shape);
  auto* out = t.mutable_data<double>();
  for (size_t i = 0; i < rows.scores.size(); ++i) out[i] = u * rows.scores[i].error;
  return t;
}

/// The index of the largest score, the first of equals.
template <typename N>
size_t best_class(std::span<const N> scores) {
  const auto less = [](const N& a, const N& b) { return value_of(a) < value_of(b); };
  return static_cast<size_t>(std::max_element(scores.begin(), scores.end(), less) - scores.begin());
}

}  // namespace assay
