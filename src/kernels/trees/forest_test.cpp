#include "kernels/trees/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/parallel.h"

namespace assay::kernels::forest_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A forest in lists of its own.
struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<size_t> roots;
  std::vector<TreeVote> votes;
  std::vector<double> members;

  ForestSource source() const { return {nodes, roots, votes, members}; }

  bool is_true(const TreeNode& n, double x) const {
    if (n.missing_is_true && std::isnan(x)) return true;
    switch (n.test) {
      case TreeTest::kLeq:
        return x <= n.threshold;
      case TreeTest::kLt:
        return x < n.threshold;
      case TreeTest::kGte:
        return x >= n.threshold;
      case TreeTest::kGt:
        return x > n.threshold;
      case TreeTest::kEq:
        return x == n.threshold;
      case TreeTest::kNeq:
        return x != n.threshold;
      default:
        return std::count(members.begin() + static_cast<std::ptrdiff_t>(n.first),
                          members.begin() + static_cast<std::ptrdiff_t>(n.last), x) > 0;
    }
  }
  /// As the definition has it.
  template <typename T>
  std::vector<double> vote(const T* x, TreeAggregate how, size_t targets) const {
    std::vector<std::vector<double>> given(targets);
    for (const size_t root : roots) {
      const TreeNode* n = &nodes[root];
      while (n->test != TreeTest::kLeaf)
        n = &nodes[is_true(*n, static_cast<double>(x[n->feature])) ? n->when_true : n->when_false];
      for (size_t i = n->first; i < n->last; ++i)
        given[static_cast<size_t>(votes[i].target)].push_back(votes[i].weight);
    }
    std::vector<double> y;
    for (const std::vector<double>& g : given) {
      double sum = 0;
      for (const double w : g) sum += w;
      if (how == TreeAggregate::kAverage) sum /= static_cast<double>(roots.size());
      if (how == TreeAggregate::kMin) sum = g.empty() ? 0 : *std::min_element(g.begin(), g.end());
      if (how == TreeAggregate::kMax) sum = g.empty() ? 0 : *std::max_element(g.begin(), g.end());
      y.push_back(sum);
    }
    return y;
  }
};

/// Thresholds and features that comparisons can go wrong at.
const std::vector<double> kNumbers = {0.0,  -0.0,  1,    -1,    0.1,    0.5,    1e300, -1e300,  3e38,
                                      kInf, -kInf, kNaN, 1e-45, 5e-324, -1e-45, 2.5,   16777217};

struct Maker {
  std::mt19937 random{7};
  bool only_order = true;
  int64_t features = 5;

  size_t below(size_t n) { return random() % n; }
  double number() {
    return below(2) == 0 ? kNumbers[below(kNumbers.size())] : static_cast<double>(random() % 1000) / 250 - 2;
  }
  /// A tree of at most this depth, somewhere shorter. Returns its root.
  size_t grow(Trees& t, int depth, int64_t targets) {
    const size_t at = t.nodes.size();
    t.nodes.emplace_back();
    TreeNode n;
    if (depth == 0 || below(8) == 0) {
      n.first = t.votes.size();
      for (size_t i = below(4); i > 0; --i)
        t.votes.push_back({static_cast<int64_t>(below(static_cast<size_t>(targets))),
                           static_cast<double>(random() % 100) / 7 - 5});
      n.last = t.votes.size();
    } else {
      n.test = static_cast<TreeTest>(below(only_order ? 4 : 7));
      n.missing_is_true = below(2) == 0;
      n.feature = static_cast<int64_t>(below(static_cast<size_t>(features)));
      n.threshold = number();
      if (n.test == TreeTest::kMember) {
        n.first = t.members.size();
        for (size_t i = below(5); i > 0; --i) t.members.push_back(number());
        n.last = t.members.size();
      }
      n.when_false = grow(t, depth - 1, targets);
      n.when_true = grow(t, depth - 1, targets);
    }
    t.nodes[at] = n;
    return at;
  }
};

template <typename T>
void expect_votes(const Trees& t, int64_t features, int64_t targets, int64_t rows, Maker& maker) {
  std::vector<T> x(static_cast<size_t>(rows * features));
  for (T& v : x) v = static_cast<T>(maker.number());
  const auto forest = CompiledForest<T>::compile(t.source());
  ASSERT_TRUE(forest.has_value());
  for (const TreeAggregate how : {TreeAggregate::kSum, TreeAggregate::kAverage, TreeAggregate::kMin,
                                  TreeAggregate::kMax, TreeAggregate::kSum, TreeAggregate::kAverage}) {
    if (how == TreeAggregate::kMin)  // From here on nothing is missing: rows of few leaves are not walked.
      std::replace_if(
          x.begin(), x.end(), [](T v) { return v != v; }, static_cast<T>(0.25));
    std::vector<double> y(static_cast<size_t>(rows * targets) + 1, 77), alone(static_cast<size_t>(targets));
    forest->vote(x.data(), rows, features, how, targets, y.data());
    EXPECT_EQ(y.back(), 77);
    for (int64_t r = 0; r < rows; ++r) {
      const std::vector<double> wanted = t.vote(x.data() + r * features, how, static_cast<size_t>(targets));
      std::vector<uint32_t> leaves(forest->tree_count());
      forest->vote_in_parallel(x.data() + r * features, how, targets, alone.data(), leaves);
      EXPECT_EQ(alone, wanted) << r;
      EXPECT_EQ(std::vector<double>(y.begin() + r * targets, y.begin() + (r + 1) * targets), wanted) << r;
    }
  }
}

TEST(CompiledForest, VotesAsTheTreesSay) {
  for (const bool only_order : {true, false})
    for (const size_t trees : {1, 7, 8, 9, 40})
      for (const int64_t rows : {0, 1, 7, 8, 13, 257}) {
        Maker maker{.only_order = only_order};
        const auto targets = static_cast<int64_t>(1 + trees % 3);
        Trees t;
        for (size_t i = 0; i < trees; ++i) t.roots.push_back(maker.grow(t, static_cast<int>(i % 7), targets));
        expect_votes<float>(t, maker.features, targets, rows, maker);
        expect_votes<double>(t, maker.features, targets, rows, maker);
      }
}

TEST(CompiledForest, ThreadsTakeTreesInAnyNumber) {
  Maker maker;
  Trees t;
  for (size_t i = 0; i < 1500; ++i) t.roots.push_back(maker.grow(t, 3, 2));
  for (int threads = 1; threads <= 16; ++threads) {
    const PoolScope scope(std::make_shared<ThreadPool>(threads));
    expect_votes<float>(t, maker.features, 2, 3, maker);
  }
}

/// A tree that is all branches to one side, of so many leaves.
size_t grow_chain(Trees& t, Maker& maker, int leaves) {
  size_t below = t.nodes.size();
  const auto leaf = [&](double weight) {
    t.votes.push_back({0, weight});
    t.nodes.push_back({.first = t.votes.size() - 1, .last = t.votes.size()});
  };
  leaf(0.5);
  for (int i = 1; i < leaves; ++i) {
    leaf(i);
    const size_t other = t.nodes.size() - 1;
    const bool left = maker.below(2) == 0;
    t.nodes.push_back({.test = static_cast<TreeTest>(maker.below(4)),
                       .feature = static_cast<int64_t>(maker.below(static_cast<size_t>(maker.features))),
                       .threshold = maker.number(),
                       .when_true = left ? below : other,
                       .when_false = left ? other : below});
    below = t.nodes.size() - 1;
  }
  return below;
}

TEST(CompiledForest, TreesOfAsManyLeavesAsAMaskHasBitsAndOfMore) {
  for (const int leaves : {1, 2, 63, 64, 65, 300}) {
    Maker maker;
    Trees t;
    for (int i = 0; i < 5; ++i) t.roots.push_back(grow_chain(t, maker, i == 3 ? leaves : 64));
    for (const int64_t rows : {2, 3, 8, 21}) expect_votes<double>(t, maker.features, 1, rows, maker);
  }
}

TEST(CompiledForest, LeavesNeedNoFeatures) {
  Trees t;
  t.nodes = {{.first = 0, .last = 1}};
  t.votes = {{0, 2.5}};
  t.roots = {0, 0};
  const auto forest = CompiledForest<float>::compile(t.source());
  double y[3] = {};
  forest->vote(nullptr, 3, 0, TreeAggregate::kSum, 1, y);
  EXPECT_EQ(y[2], 5);
  EXPECT_EQ(forest->features(), 0);
}

TEST(CompiledForest, SharedAndEndlessBranchesAreRefused) {
  Trees t;
  // Each branch has the next one twice.
  for (size_t i = 0; i < 40; ++i)
    t.nodes.push_back({.test = TreeTest::kLeq, .when_true = i + 1, .when_false = i + 1});
  t.nodes.push_back({.first = 0, .last = 0});
  t.roots = {0};
  EXPECT_FALSE(CompiledForest<float>::compile(t.source()).has_value());
  t.nodes = {{.test = TreeTest::kLeq, .when_true = 0, .when_false = 0}};
  EXPECT_FALSE(CompiledForest<double>::compile(t.source()).has_value());
}

}  // namespace
}  // namespace assay::kernels::forest_test
