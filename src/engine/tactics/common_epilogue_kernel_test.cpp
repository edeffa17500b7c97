#include "engine/tactics/common_epilogue_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::engine::common_epilogue_kernel_test {
namespace {

using kernels::PointwiseOp;
using Entry = EpilogueSpec::Entry;

constexpr int64_t kRows = 6, kChannels = 8;

Entry number(float a, float b) { return {.op = PointwiseOp::kAffine, .a = a, .b = b}; }
Entry of_channels(PointwiseOp op, int32_t position) {
  return {.op = op, .position = position, .shape = Shape{kChannels, 1}};
}
Entry whole(int32_t position) {
  return {.op = PointwiseOp::kAdd, .position = position, .shape = Shape{1, kChannels, kRows}};
}
const Entry kRelu{.op = PointwiseOp::kRelu};

std::optional<CommonEnd> end_of(std::vector<Entry> entries) {
  return common_epilogue({std::move(entries)}, kRows, kChannels);
}

TEST(CommonEnd, PartsInTheirOrder) {
  const auto all =
      end_of({kRelu, of_channels(PointwiseOp::kMul, 3), of_channels(PointwiseOp::kAdd, 4), whole(5)});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->factors, 3);
  EXPECT_EQ(all->shifts, 4);
  EXPECT_EQ(all->addend, 5);
  EXPECT_TRUE(all->finish.adds_last);
  const auto first = end_of({whole(3), kRelu});
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->finish.adds_last);
  EXPECT_TRUE(end_of({}));
  EXPECT_FALSE(end_of({of_channels(PointwiseOp::kAdd, 3), kRelu})) << "a function of what was shifted";
  EXPECT_FALSE(end_of({of_channels(PointwiseOp::kAdd, 3), of_channels(PointwiseOp::kMul, 4)}));
  EXPECT_FALSE(end_of({whole(3), kRelu, whole(4)})) << "two operands";
  EXPECT_FALSE(end_of({whole(3), whole(4)}));
  EXPECT_FALSE(end_of({kRelu, kRelu}));
  EXPECT_FALSE(end_of({{.op = PointwiseOp::kTanh}}));
}

/// Factors that would overflow or vanish as one are left to the steps.
TEST(CommonEnd, AFactorAndWhatIsAddedAreNumbers) {
  const auto scaled = end_of({kRelu, number(0.5F, 0), number(1, 3), whole(3)});
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->finish.scale, 0.5F);
  EXPECT_EQ(scaled->finish.shift, 3);
  EXPECT_TRUE(std::signbit(end_of({kRelu})->finish.shift)) << "nothing is added, not even to -0";
  EXPECT_FALSE(end_of({number(1e30F, 0), number(1e30F, 0)}));
  EXPECT_FALSE(end_of({number(1e-30F, 0), number(1e-30F, 0)}));
  EXPECT_FALSE(end_of({number(2, 3e38F), number(1, 3e38F)}));
  EXPECT_FALSE(end_of({number(2, 0), kRelu}));
  EXPECT_FALSE(end_of({of_channels(PointwiseOp::kMul, 3), number(2, 0)}));
  EXPECT_FALSE(end_of({number(2, 0), of_channels(PointwiseOp::kMul, 3)}));
}

}  // namespace
}  // namespace assay::engine::common_epilogue_kernel_test
