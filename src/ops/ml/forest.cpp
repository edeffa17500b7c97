#include "ops/ml/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

void Forest::check_features(const OpContext& c, int64_t count) const {
  for (const Node& n : nodes_)
    c.check(n.test == Mode::kLeaf || (n.feature >= 0 && n.feature < count),
            "a branch looks at feature {}, but the input has {}", n.feature, count);
}

bool Forest::votes_are_positive() const {
  return std::all_of(votes_.begin(), votes_.end(), [](const Vote& v) { return v.weight >= 0; });
}

bool Forest::is_true(const Node& n, double x) const {
  if (n.missing_is_true && std::isnan(x)) return true;
  switch (n.test) {
    case Mode::kLeq:
      return x <= n.threshold;
    case Mode::kLt:
      return x < n.threshold;
    case Mode::kGte:
      return x >= n.threshold;
    case Mode::kGt:
      return x > n.threshold;
    case Mode::kEq:
      return x == n.threshold;
    case Mode::kNeq:
      return x != n.threshold;
    default: {
      const auto set = members_.begin();
      const auto end = set + static_cast<std::ptrdiff_t>(n.last);
      return std::find(set + static_cast<std::ptrdiff_t>(n.first), end, x) != end;
    }
  }
}

const Forest::Node& Forest::leaf_of(size_t root, const double* x) const {
  const Node* n = &nodes_[root];
  for (size_t steps = 0; n->test != Mode::kLeaf; ++steps) {
    require(steps < nodes_.size(), ErrorCode::kInvalidModel, "a tree has a path that never ends");
    n = &nodes_[is_true(*n, x[n->feature]) ? n->when_true : n->when_false];
  }
  return *n;
}

template <typename N>
void Forest::vote(const double* x, Aggregate aggregate, std::span<N> targets) const {
  const bool extreme = aggregate == Aggregate::kMin || aggregate == Aggregate::kMax;
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::fill(targets.begin(), targets.end(), extreme ? N(none) : N(0));
  for (const size_t root : roots_) {
    const Node& leaf = leaf_of(root, x);
    for (size_t i = leaf.first; i < leaf.last; ++i) {
      N& t = targets[static_cast<size_t>(votes_[i].target)];
      const double w = votes_[i].weight;
      if (!extreme)
        t += N(w);
      else if (!(aggregate == Aggregate::kMin ? value_of(t) <= w : value_of(t) >= w))
        t = w;
    }
  }
  for (N& t : targets) {
    if (extreme && std::isnan(value_of(t))) t = 0;
    if (aggregate == Aggregate::kAverage) t = t / N(static_cast<double>(roots_.size()));
  }
}
template void Forest::vote(const double*, Aggregate, std::span<double>) const;
template void Forest::vote(const double*, Aggregate, std::span<Rounded>) const;

}  // namespace assay
