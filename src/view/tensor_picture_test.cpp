#include "view/tensor_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace assay::tensor_picture_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TensorPicture, CountsEveryElementOnce) {
  std::vector<float> values(10'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 100;
  const TensorPicture p = picture_of(Tensor::vector<float>(values), "x");
  EXPECT_EQ(p.min, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(p.max), 99.99F);
  EXPECT_NEAR(p.mean, 49.995, 1e-3);
  EXPECT_EQ(std::accumulate(p.counts.begin(), p.counts.end(), int64_t{0}), 10'000);
  for (const int64_t n : p.counts) EXPECT_NEAR(static_cast<double>(n), 10'000.0 / TensorPicture::kBins, 2);
  EXPECT_EQ(p.rows, 1);
  EXPECT_EQ(p.columns, TensorPicture::kMaxColumns);
  EXPECT_LT(p.cells.front(), 1);
  EXPECT_GT(p.cells.back(), 99);
}

TEST(TensorPicture, WhatIsNotFiniteIsCountedApart) {
  const TensorPicture p = picture_of(Tensor::vector<float>({1, kNan, kInf, -kInf, 3}), "x");
  EXPECT_EQ(p.nan, 1);
  EXPECT_EQ(p.infinite, 2);
  EXPECT_EQ(p.min, 1);
  EXPECT_EQ(p.max, 3);
  EXPECT_TRUE(std::isnan(p.cells[1]));
  const TensorPicture none = picture_of(Tensor::vector<float>({kNan}), "x");
  EXPECT_TRUE(none.counts.empty());
}

TEST(TensorPicture, ExtremesAndEqualElements) {
  const double most = std::numeric_limits<double>::max();
  const TensorPicture wide = picture_of(Tensor::vector<double>({-most, 0, most}), "x");
  EXPECT_EQ(wide.counts.front(), 1);
  EXPECT_EQ(wide.counts[TensorPicture::kBins / 2], 1);
  EXPECT_EQ(wide.counts.back(), 1);
  const TensorPicture same = picture_of(Tensor::vector<int64_t>({7, 7, 7}), "x");
  EXPECT_EQ(same.counts[TensorPicture::kBins / 2], 3);
  EXPECT_FALSE(can_picture(Tensor::vector<std::string>({"a"})));
  EXPECT_FALSE(can_picture(Tensor::vector<float>({})));
}

TEST(TensorPicture, RowsAreThoseOfTheFirstAxis) {
  const Tensor t =
      Tensor::from<float>(Shape{2, 3, 2}, std::vector<float>{-1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1});
  const TensorPicture p = picture_of(t, "x");
  EXPECT_EQ(p.rows, 2);
  EXPECT_EQ(p.columns, 6);
  EXPECT_EQ(p.cells.front(), -1);
  EXPECT_EQ(p.cells.back(), 1);
}

}  // namespace
}  // namespace assay::tensor_picture_test
