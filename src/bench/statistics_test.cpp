#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace assay::bench::statistics_test {
namespace {

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({9, 1, 2, 4}), 3);
}

TEST(Statistics, PercentilesLeaveOutTheLargest) {
  std::vector<double> ten;
  for (int i = 1; i <= 10; ++i) ten.push_back(i);
  EXPECT_EQ(percentile(ten, 100), 10);
  EXPECT_EQ(percentile(ten, 99), 10);
  EXPECT_EQ(percentile(ten, 90), 9);
  EXPECT_EQ(percentile(ten, 50), 5);
  EXPECT_EQ(percentile(ten, 0), 1);
  EXPECT_EQ(percentile({}, 50), 0);
  EXPECT_EQ(percentile(std::vector<double>{7}, 0), 7);
}

TEST(Statistics, SummariesOfUnsortedTimes) {
  const std::vector<double> percents = {99, 50};
  const Summary s = summarize({4, 2, 6, 8}, percents);
  EXPECT_EQ(s.count, 4U);
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.max, 8);
  EXPECT_EQ(s.mean, 5);
  EXPECT_EQ(s.median, 5);
  ASSERT_EQ(s.percentiles.size(), 2U);
  EXPECT_EQ(s.percentiles[0], (std::pair<double, double>(99, 8)));
  EXPECT_EQ(s.percentiles[1], (std::pair<double, double>(50, 4)));
  EXPECT_NEAR(s.variation, 100 * 2.2360679775 / 5, 1e-9);
}

TEST(Statistics, NothingIsZeroThroughout) {
  const std::vector<double> percents = {90};
  const Summary s = summarize({}, percents);
  EXPECT_EQ(s.max, 0);
  EXPECT_EQ(s.variation, 0);
  ASSERT_EQ(s.percentiles.size(), 1U);
  EXPECT_EQ(s.percentiles[0].second, 0);
}

}  // namespace
}  // namespace assay::bench::statistics_test
