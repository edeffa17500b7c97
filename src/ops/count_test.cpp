#include "assay/count.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::count_test {
namespace {

const Count kBatch = Count::symbol("batch");

TEST(CountTest, PrintsWhatGrowsFirst) {
  EXPECT_EQ(Count(0).str(), "0");
  EXPECT_EQ((Count(64) + Count(12) * kBatch * Count::symbol("seq")).str(), "12*batch*seq + 64");
  EXPECT_EQ((kBatch * kBatch).str(), "batch*batch");
  EXPECT_EQ(Count::symbol("2*n+1").str(), "(2*n+1)");
  EXPECT_EQ((Count(3) + Count::unknown()).str(), "3 + ?");
  EXPECT_EQ(Count::unknown().str(), "?");
}

TEST(CountTest, AddsAndMultiplies) {
  const Count a = Count(2) + kBatch, b = Count(3) + kBatch;
  EXPECT_EQ((a * b).str(), "batch*batch + 5*batch + 6");
  Count sum = a + b;
  EXPECT_EQ(sum.str(), "2*batch + 5");
  sum -= b;
  EXPECT_EQ(sum, a);
  EXPECT_EQ((a * Count(0)).number(), 0);
  EXPECT_EQ((Count::unknown() * Count(0)).number(), 0);
  EXPECT_FALSE((Count::unknown() * a).is_known());
}

TEST(CountTest, UnknownPartsComeAndGo) {
  Count live = Count(8);
  live += Count::unknown();
  EXPECT_FALSE(live.number().has_value());
  live -= Count::unknown();
  EXPECT_EQ(live.number(), 8);
}

TEST(CountTest, OverflowIsUnknown) {
  const Count most = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE((most + Count(1)).is_known());
  EXPECT_FALSE((most * Count(2)).is_known());
  EXPECT_EQ((most * Count(1)).number(), std::numeric_limits<int64_t>::max());
}

TEST(CountTest, ComparesTermByTerm) {
  const Count small = Count(2) + kBatch, large = Count(2) + Count(3) * kBatch;
  EXPECT_TRUE(large.covers(small));
  EXPECT_FALSE(small.covers(large));
  EXPECT_FALSE(Count(100).covers(kBatch));
  EXPECT_EQ(Count::upper_bound(Count(100), kBatch).str(), "batch + 100");
}

TEST(CountTest, ElementsOfDims) {
  EXPECT_EQ(Count::elements(Dims{Dim::symbol("n"), Dim(3), Dim(4)}).str(), "12*n");
  EXPECT_EQ(Count::elements(Dims{}).number(), 1);
  EXPECT_EQ(Count::elements(std::nullopt).str(), "?");
  EXPECT_EQ(Count::elements(Dims{Dim(), Dim(3)}).str(), "?");
}

}  // namespace
}  // namespace assay::count_test
