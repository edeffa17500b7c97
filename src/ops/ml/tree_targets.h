// A forest whose votes are the values of targets: shared by the two tree regressors.
#pragma once

#include <vector>

#include "ops/ml/post_transform.h"
#include "ops/ml/tree_scorer.h"

namespace assay {

/// A Model (ops/ml/scored_op.h, ops/ml/tree_scorer.h).
struct TreeTargets {
  int64_t targets;
  Forest forest;
  Aggregate aggregate;
  PostTransform transform;
  std::vector<double> base = {};  ///< one for each target, or none

  int64_t width() const { return targets; }
  const ClassLabels* classes() const { return nullptr; }
  void take_features(const OpContext& c, int64_t count) const { forest.check_features(c, count); }
  int64_t cost() const { return forest.cost(); }
  template <typename N>
  size_t score(const double* x, std::span<N> scores) const {
    forest.vote(x, aggregate, scores);
    return finish(scores);
  }
  template <typename N>
  size_t finish(std::span<N> scores) const {
    for (size_t t = 0; t < base.size(); ++t) scores[t] += N(base[t]);
    apply(transform, scores);
    return 0;
  }
};

}  // namespace assay
