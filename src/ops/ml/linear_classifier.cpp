// LinearClassifier: one linear model for each class; the class with the largest score wins. A single model
// for two classes scores the second, which wins when the score is positive; the first class then gets the
// scores of two_scores(). The attribute multi_class changes nothing.
#include <algorithm>

#include "ops/ml/linear.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/score_rows.h"
#include "ops/op_list.h"

namespace assay::op_ml_LinearClassifier {
namespace {

/// A classifier's attributes.
struct Classifier {
  explicit Classifier(const OpContext& c)
      : labels(c, "classlabels_ints", "classlabels_strings"),
        transform(read_post_transform(c)),
        model(c, row_count(c, labels)) {
    const size_t size = model.coefficients.size();
    c.check(size % static_cast<size_t>(model.rows) == 0, "{} coefficients cannot be divided among {} rows",
            size, model.rows);
  }

  /// How many rows of coefficients there are: the intercepts tell one row from two, where they are given.
  static int64_t row_count(const OpContext& c, const ClassLabels& labels) {
    c.check(labels.size() >= 2, "the classifier has {} label; it needs at least two", labels.size());
    return labels.size() == 2 && c.attr_floats("intercepts").size() == 1
               ? 1
               : static_cast<int64_t>(labels.size());
  }

  ClassLabels labels;
  PostTransform transform;
  LinearModel model;
};

void infer(InferContext& c) {
  const Classifier k(c);
  infer_classifier(c, k.labels, Dim(static_cast<int64_t>(k.labels.size())));
}

template <typename N>
ScoreRows<N> classify(const EvalContext& c, Classifier& k) {
  const Features x(c);
  k.model.take_features(c, x);
  const auto width = static_cast<int64_t>(k.labels.size());
  return score_rows<N>(x, width, width * x.count, [&](const double* row, std::span<N> scores) {
    if (k.model.rows == 1) {
      const N s = k.model.score<N>(0, row);
      std::ranges::copy(two_scores(k.transform, s, true), scores.begin());
      return static_cast<size_t>(value_of(s) > 0);
    }
    for (int64_t r = 0; r < width; ++r) scores[static_cast<size_t>(r)] = k.model.score<N>(r, row);
    const size_t best = best_class<N>(scores);
    apply(k.transform, scores);
    return best;
  });
}

void eval(EvalContext& c) {
  Classifier k(c);
  const ScoreRows<double> rows = classify<double>(c, k);
  c.set_output(0, k.labels.pick(rows.classes));
  c.set_output(1, score_tensor(rows));
}

Tensor bound(EvalContext& c, double u, size_t, const Tensor&) {
  Classifier k(c);
  return score_errors(classify<Rounded>(c, k), u);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
out Z: float
attr post_transform: string = "NONE"
attr classlabels_ints: ints
attr classlabels_strings: strings
attr multi_class: int = 0
attr intercepts: floats
attr coefficients: floats required
type T1: float double int64 int32
type T2: string int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "LinearClassifier",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_ml_LinearClassifier
