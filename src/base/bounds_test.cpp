#include "base/bounds.h"

#include <gtest/gtest.h>

namespace assay::bounds_test {
namespace {

constexpr uint64_t kMax = UINT64_MAX;

TEST(Bounds, StretchesDoNotWrap) {
  EXPECT_TRUE(within(0, 0, 0));
  EXPECT_TRUE(within(3, 2, 5));
  EXPECT_FALSE(within(3, 3, 5));
  EXPECT_FALSE(within(6, 0, 5));
  EXPECT_FALSE(within(1, kMax, 5));
  EXPECT_FALSE(within(kMax, 1, 5));
  EXPECT_FALSE(within(kMax, kMax, kMax - 1));
}

TEST(Bounds, SumsAndProductsThatDoNotFitAreNone) {
  EXPECT_EQ(checked_sum({1, 2, 3}), 6U);
  EXPECT_EQ(checked_sum({kMax, 0}), kMax);
  EXPECT_EQ(checked_sum({kMax, 1}), std::nullopt);
  EXPECT_EQ(checked_product({}), 1U);
  EXPECT_EQ(checked_product({uint64_t{1} << 32, (uint64_t{1} << 32) - 1}),
            (uint64_t{1} << 32) * ((uint64_t{1} << 32) - 1));
  EXPECT_EQ(checked_product({uint64_t{1} << 32, uint64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(checked_product({uint64_t{1} << 32, uint64_t{1} << 32, 0}), std::nullopt);
}

TEST(Bounds, DeflateHasALimit) {
  EXPECT_TRUE(can_inflate_to(1, 1032));
  EXPECT_FALSE(can_inflate_to(1, 2 * 1032));
  EXPECT_FALSE(can_inflate_to(1000, kMax));
}

}  // namespace
}  // namespace assay::bounds_test
