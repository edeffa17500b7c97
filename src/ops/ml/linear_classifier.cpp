// LinearClassifier: one linear model for each class; the class with the largest score wins. A single model
// for two classes scores the second, which wins when the score is positive; the first class then gets the
// scores of two_scores(). The attribute multi_class changes nothing.
#include <algorithm>

#include "ops/ml/linear.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/scored_op.h"
#include "ops/op_list.h"

namespace assay::op_ml_LinearClassifier {
namespace {

/// A classifier's attributes.
struct Model {
  explicit Model(const OpContext& c)
      : labels(c, "classlabels_ints", "classlabels_strings"),
        transform(read_post_transform(c)),
        linear(c, row_count(c, labels)) {
    const size_t size = linear.coefficients.size();
    c.check(size % static_cast<size_t>(linear.rows) == 0, "{} coefficients cannot be divided among {} rows",
            size, linear.rows);
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
  LinearModel linear;

  int64_t width() const { return static_cast<int64_t>(labels.size()); }
  const ClassLabels* classes() const { return &labels; }
  void take_features(const OpContext& c, int64_t count) { linear.take_features(c, count); }
  int64_t cost() const { return linear.rows * linear.features; }
  template <typename N>
  size_t score(const double* x, std::span<N> scores) const {
    if (linear.rows == 1) {
      const N s = linear.score<N>(0, x);
      std::ranges::copy(two_scores(transform, s, true), scores.begin());
      return static_cast<size_t>(value_of(s) > 0);
    }
    for (int64_t r = 0; r < width(); ++r) scores[static_cast<size_t>(r)] = linear.score<N>(r, x);
    const size_t best = best_class<N>(scores);
    apply(transform, scores);
    return best;
  }
};

void infer(InferContext& c) {
  const Model k(c);
  infer_classifier(c, k.labels, Dim(static_cast<int64_t>(k.labels.size())));
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
     infer, eval_scores<Model>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "LinearClassifier",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_scores<Model>},
    .scorer = make_model_scorer<Model>,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
        },
};

}  // namespace assay::op_ml_LinearClassifier
