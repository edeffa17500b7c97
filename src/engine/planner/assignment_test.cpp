#include "engine/planner/assignment.h"

#include <gtest/gtest.h>

#include <random>

namespace assay::engine::assignment_test {
namespace {

/// The least cost of all choices.
double least_cost(const Assignment& a, const std::vector<size_t>& alternatives) {
  std::vector<size_t> choice(alternatives.size(), 0);
  double best = a.cost_of(choice);
  for (size_t n = 0; n < choice.size();) {
    if (++choice[n] < alternatives[n]) {
      best = std::min(best, a.cost_of(choice));
      n = 0;
    } else {
      choice[n++] = 0;
    }
  }
  return best;
}

class AssignmentTest : public testing::Test {
 protected:
  std::vector<double> random_costs(size_t count) {
    std::vector<double> costs(count);
    for (double& c : costs) c = static_cast<double>(random_() % 100);
    return costs;
  }
  size_t add(size_t count) {
    alternatives_.push_back(count);
    return assignment_.add(random_costs(count));
  }
  void connect(size_t a, size_t b) {
    assignment_.connect(a, b, random_costs(alternatives_[a] * alternatives_[b]));
  }
  double solved_cost() const { return assignment_.cost_of(assignment_.solve()); }
  double best_cost() const { return least_cost(assignment_, alternatives_); }

  std::mt19937 random_{11};
  Assignment assignment_;
  std::vector<size_t> alternatives_;
};

TEST_F(AssignmentTest, ChainsAreSolvedExactly) {
  for (int round = 0; round < 50; ++round) {
    assignment_ = {};
    alternatives_.clear();
    for (size_t n = 0; n < 6; ++n) {
      add(1 + random_() % 4);
      if (n > 0) (random_() % 2 != 0) ? connect(n - 1, n) : connect(n, n - 1);
    }
    EXPECT_EQ(solved_cost(), best_cost());
  }
}

TEST_F(AssignmentTest, ResidualConnectionsAreSolvedExactly) {
  for (int round = 0; round < 50; ++round) {
    assignment_ = {};
    alternatives_.clear();
    for (size_t n = 0; n < 7; ++n) {
      add(1 + random_() % 3);
      if (n > 0) connect(n - 1, n);
    }
    connect(0, 3);
    connect(3, 6);
    connect(4, 6);
    EXPECT_EQ(solved_cost(), best_cost());
  }
}

TEST_F(AssignmentTest, DenseNetworksComeClose) {
  double solved = 0, best = 0;
  for (int round = 0; round < 40; ++round) {
    assignment_ = {};
    alternatives_.clear();
    for (size_t n = 0; n < 7; ++n) {
      add(3);
      for (size_t k = 0; k < n; ++k) connect(k, n);
    }
    EXPECT_GE(solved_cost(), best_cost());
    solved += solved_cost();
    best += best_cost();
  }
  EXPECT_LT(solved, 1.25 * best);
}

TEST_F(AssignmentTest, TheFirstOfEqualAlternativesIsTaken) {
  const size_t a = assignment_.add({1, 1, 1}), b = assignment_.add({2, 2});
  assignment_.connect(a, b, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(assignment_.solve(), (std::vector<size_t>{0, 0}));
}

TEST_F(AssignmentTest, CostsOfOnePairAddUp) {
  const size_t a = assignment_.add({0, 3}), b = assignment_.add({0, 3});
  assignment_.connect(a, b, {5, 0, 0, 5});
  assignment_.connect(b, a, {5, 0, 0, 1});  // b first
  EXPECT_EQ(assignment_.cost_of({0, 0}), 10);
  EXPECT_EQ(assignment_.cost_of({1, 1}), 12);
  EXPECT_EQ(assignment_.cost_of(assignment_.solve()), 3);
}

TEST_F(AssignmentTest, ALongChainTakesLinearTime) {
  for (size_t n = 0; n < 200'000; ++n) {
    add(2);
    if (n > 0) connect(n - 1, n);
  }
  EXPECT_EQ(assignment_.solve().size(), 200'000U);
}

TEST_F(AssignmentTest, AStarOfManyNeighboursTakesLinearTime) {
  add(2);
  for (size_t n = 1; n < 100'000; ++n) {
    add(2);
    connect(0, n);
  }
  EXPECT_EQ(assignment_.solve().size(), 100'000U);
}

}  // namespace
}  // namespace assay::engine::assignment_test
