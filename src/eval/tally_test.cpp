#include "eval/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace assay::eval::tally_test {
namespace {

TEST(Tally, MeansAndIntervals) {
  Tally t;
  for (const double x : {1.0, 2.0, 3.0, 4.0}) t.add(x);
  const Figure f = t.figure(Kind::kMean);
  EXPECT_DOUBLE_EQ(*f.value, 2.5);
  EXPECT_DOUBLE_EQ(*f.deviation, std::sqrt(5.0 / 3));
  EXPECT_NEAR(*f.low, 2.5 - 1.96 * std::sqrt(5.0 / 3) / 2, 1e-4);
  EXPECT_NEAR(*f.high, 2.5 + 1.96 * std::sqrt(5.0 / 3) / 2, 1e-4);
}

TEST(Tally, DeviationsDoNotCancel) {
  Tally t;
  for (int i = 0; i < 1000; ++i) t.add(1e9 + (i % 2 == 0 ? 1e-3 : -1e-3));
  EXPECT_NEAR(*t.figure(Kind::kMean).deviation, 1e-3 * std::sqrt(1000.0 / 999), 1e-7);
}

TEST(Tally, WilsonsInterval) {
  Tally t;
  for (int i = 0; i < 10; ++i) t.add(1);
  // 10 of 10: [1 / (1 + z^2 / n), 1].
  const Figure all = t.figure(Kind::kProportion);
  EXPECT_DOUBLE_EQ(*all.value, 1);
  EXPECT_NEAR(*all.low, 0.722467, 1e-6);
  EXPECT_DOUBLE_EQ(*all.high, 1);
  for (int i = 0; i < 10; ++i) t.add(0);
  // 10 of 20, by Newcombe's tables.
  EXPECT_NEAR(*t.figure(Kind::kProportion).low, 0.2993, 1e-4);
  EXPECT_NEAR(*t.figure(Kind::kProportion).high, 0.7007, 1e-4);
}

TEST(Tally, CountsWhatIsNoNumberApart) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Tally t;
  EXPECT_FALSE(t.figure(Kind::kMean).value);
  for (const double x : {kInfinity, -kInfinity, kInfinity, std::nan(""), 5.0}) t.add(x);
  EXPECT_EQ(t.count, 1);
  EXPECT_EQ(t.nan, 1);
  EXPECT_EQ(t.positive_infinity, 2);
  EXPECT_EQ(t.negative_infinity, 1);
  EXPECT_EQ(*t.figure(Kind::kMean).value, 5);
  EXPECT_FALSE(t.figure(Kind::kMean).low);
}

TEST(Tally, HugeNumbersHaveNoInterval) {
  Tally t;
  t.add(1e200);
  t.add(1e201);
  EXPECT_EQ(*t.figure(Kind::kMean).value, 5.5e200);
  EXPECT_FALSE(t.figure(Kind::kMean).low);
}

TEST(Tally, Perplexity) {
  Tally t;
  t.add(std::log(8.0));
  t.add(std::log(2.0));
  EXPECT_DOUBLE_EQ(*t.figure(Kind::kPerplexity).value, 4);
  EXPECT_LT(*t.figure(Kind::kPerplexity).low, 4);
}

TEST(Tally, RankingsMergeInAnyOrder) {
  std::mt19937 random(1);
  std::vector<Ranked> all;
  for (int64_t i = 0; i < 500; ++i) all.push_back({i, static_cast<double>(random() % 20)});
  Ranking whole(10, /*low_is_worse=*/true);
  for (const Ranked& r : all) whole.add(r);
  for (size_t i = 1; i < whole.list().size(); ++i) {
    const Ranked &a = whole.list()[i - 1], &b = whole.list()[i];
    EXPECT_TRUE(a.value < b.value || (a.value == b.value && a.sample < b.sample));
  }
  for (int round = 0; round < 20; ++round) {
    std::shuffle(all.begin(), all.end(), random);
    std::vector<Ranking> parts(7, Ranking(10, true));
    for (size_t i = 0; i < all.size(); ++i) parts[random() % parts.size()].add(all[i]);
    Ranking merged(10, true);
    for (const Ranking& part : parts) merged.add(part);
    EXPECT_EQ(merged.list(), whole.list());
  }
}

TEST(TimeTally, Quantiles) {
  TimeTally a, b;
  EXPECT_FALSE(a.quantile(0.5));
  for (int i = 1; i <= 1000; ++i) (i % 3 == 0 ? a : b).add(i * 1e-3);
  a.add(b);
  EXPECT_EQ(a.count, 1000);
  EXPECT_NEAR(*a.quantile(0.5), 0.5, 0.5 * 0.005);
  EXPECT_NEAR(*a.quantile(0.99), 0.99, 0.99 * 0.005);
  EXPECT_NEAR(*a.quantile(1), 1.0, 0.005);
  EXPECT_NEAR(*a.quantile(0), 1e-3, 1e-5);
}

}  // namespace
}  // namespace assay::eval::tally_test
