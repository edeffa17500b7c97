#include "kernels/copy/gather.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::kernels::gather_test {
namespace {

TEST(Gather, PicksRowsOfEveryBlock) {
  const std::vector<int16_t> in = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // [2, 3, 2]
  std::vector<int16_t> out(16);
  const std::vector<int64_t> index = {2, 0, -1, -3};
  ASSERT_TRUE(gather(in.data(), index.data(), out.data(), 2, 3, 4, 4));
  EXPECT_EQ(out, (std::vector<int16_t>{5, 6, 1, 2, 5, 6, 1, 2, 11, 12, 7, 8, 11, 12, 7, 8}));
  const std::vector<int32_t> narrow = {1};
  ASSERT_TRUE(gather(in.data(), narrow.data(), out.data(), 2, 3, 1, 4));
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[3], 10);
}

TEST(Gather, RefusesIndicesOutOfRange) {
  const std::vector<float> in(6);
  std::vector<float> out(2);
  for (const int64_t i : {3, -4, 1 << 30}) {
    EXPECT_FALSE(gather(in.data(), &i, out.data(), 1, 3, 1, 8)) << i;
  }
}

}  // namespace
}  // namespace assay::kernels::gather_test
