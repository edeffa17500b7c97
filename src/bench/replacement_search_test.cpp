#include "bench/replacement_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "assay/error.h"

namespace assay::bench {
namespace {

/// A network whose time is the sum of its instances' times, replaced or not.
struct FakeNetwork {
  std::vector<double> before, after;
  std::vector<Replacements> tried;
  std::vector<std::string> failures;
  size_t broken = 99;  ///< an instance that cannot be replaced

  double seconds(const Replacements& replaced) const {
    double sum = std::accumulate(before.begin(), before.end(), 0.0);
    for (const size_t i : replaced) sum += after[i] - before[i];
    return sum;
  }
  SearchResult search(const SearchOptions& options) {
    return search_replacements(
        before.size(), options,
        {.measure =
             [&](const Replacements& t, const Replacements& best) {
               tried.push_back(t);
               for (const size_t i : t) require(i != broken, ErrorCode::kUnsupported, "no kernel");
               return Contest{.performance = {.latency = seconds(t)},
                              .best_so_far = {.latency = seconds(best)},
                              .is_faster = seconds(t) < seconds(best)};
             },
         .on_decision = [](size_t, bool, const Contest&) {},
         .on_best = [](size_t, const Contest&) {},
         .on_failure = [&](const Replacements&, const std::string& reason) { failures.push_back(reason); },
         .on_progress = [](size_t, size_t) {}});
  }
};

TEST(ReplacementSearch, GreedyKeepsWhatIsFaster) {
  FakeNetwork network{.before = {4, 3, 2, 1}, .after = {1, 5, 2, 0.5}};
  const SearchResult found = network.search({});
  EXPECT_EQ(found.best, (Replacements{0, 3}));
  EXPECT_EQ(found.performance.latency, 6.5);
  EXPECT_EQ(found.tested, 4u);
  EXPECT_EQ(network.tried, (std::vector<Replacements>{{0}, {0, 1}, {0, 2}, {0, 3}}));
}

TEST(ReplacementSearch, NothingFasterIsNothing) {
  FakeNetwork network{.before = {1, 1}, .after = {1, 2}};
  EXPECT_TRUE(network.search({}).best.empty());
  EXPECT_TRUE(network.search({.mode = SearchMode::kExhaustive}).best.empty());
}

TEST(ReplacementSearch, FailuresAreLeftOut) {
  FakeNetwork network{.before = {4, 4, 4}, .after = {1, 1, 1}, .broken = 1};
  const SearchResult found = network.search({});
  EXPECT_EQ(found.best, (Replacements{0, 2}));
  EXPECT_EQ(found.failed, 1u);
  ASSERT_EQ(network.failures.size(), 1u);
  EXPECT_NE(network.failures[0].find("no kernel"), std::string::npos);
}

TEST(ReplacementSearch, ExhaustiveTriesAllSets) {
  FakeNetwork network{.before = {4, 4, 4}, .after = {3.9, 3.9, 3.9}};
  const SearchResult found = network.search({.mode = SearchMode::kExhaustive});
  EXPECT_EQ(found.best, (Replacements{0, 1, 2}));
  EXPECT_EQ(found.tested, 7u);
  EXPECT_TRUE(found.is_complete);
}

TEST(ReplacementSearch, ExhaustiveEndsAtThresholdAndLimit) {
  FakeNetwork quick{.before = {4, 4, 4}, .after = {1, 1, 1}};
  const SearchResult first = quick.search({.mode = SearchMode::kExhaustive, .threshold = 0.1});
  EXPECT_EQ(first.best, (Replacements{0}));
  EXPECT_FALSE(first.is_complete);
  FakeNetwork slow{.before = {4, 4, 4}, .after = {3.9, 3.9, 3.9}};
  const SearchResult limited = slow.search({.mode = SearchMode::kExhaustive, .most_combinations = 3});
  EXPECT_EQ(limited.tested, 3u);
  EXPECT_EQ(limited.best, (Replacements{0, 1}));
  EXPECT_FALSE(limited.is_complete);
}

/// Runs of these seconds.
Lane lane_of(const std::vector<double>& seconds) {
  Lane lane;
  for (const double s : seconds) lane.runs.push_back({.start = 0, .end = s});
  return lane;
}

TEST(ReplacementSearch, TheMachineDoesNotDecide) {
  const std::vector<double> slow(12, 2), fast(12, 1);
  EXPECT_EQ(compare_lanes(lane_of(fast), lane_of(slow), 12), Outcome::kFaster);
  EXPECT_EQ(compare_lanes(lane_of(slow), lane_of(fast), 12), Outcome::kNotFaster);
  EXPECT_EQ(compare_lanes(lane_of(fast), lane_of(fast), 12), Outcome::kNotFaster);
  // Faster in the mean only because the machine was slower for half of the other one's runs.
  std::vector<double> half = fast;
  std::fill_n(half.begin(), 6, 9);
  EXPECT_EQ(compare_lanes(lane_of(fast), lane_of(half), 12), Outcome::kNotFaster);
}

TEST(ReplacementSearch, AFewDisturbedRunsDoNotDecide) {
  const std::vector<double> slow(12, 2);
  std::vector<double> fast(12, 1);
  fast[5] = 9;
  EXPECT_EQ(compare_lanes(lane_of(fast), lane_of(slow), 12), Outcome::kFaster);
  fast[7] = fast[9] = 9;
  EXPECT_EQ(compare_lanes(lane_of(fast), lane_of(slow), 12), Outcome::kOpen);
  // The same share of twice the runs is no chance any more.
  fast.insert(fast.end(), 12, 1);
  EXPECT_EQ(compare_lanes(lane_of(fast), lane_of(std::vector<double>(24, 2)), 24), Outcome::kFaster);
}

TEST(ReplacementSearch, TooFewRunsAndTinyGainsAreNoVictory) {
  EXPECT_EQ(compare_lanes(lane_of({1}), lane_of({2}), 2), Outcome::kOpen);
  EXPECT_EQ(compare_lanes(lane_of(std::vector<double>(12, 0.995)), lane_of(std::vector<double>(12, 1)), 12),
            Outcome::kNotFaster);
}

}  // namespace
}  // namespace assay::bench
