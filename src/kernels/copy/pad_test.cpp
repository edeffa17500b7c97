#include "kernels/copy/pad.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::kernels::pad_test {
namespace {

/// A row of 0, 1, 2 ... padded; -7 stands for the number.
std::vector<int16_t> row(int64_t extent, int64_t begin, int64_t end, PadMode mode) {
  std::vector<int16_t> x;
  for (int64_t i = 0; i < extent; ++i) x.push_back(static_cast<int16_t>(i));
  const PadCopy copy({extent}, {begin}, {end}, mode, sizeof(int16_t));
  std::vector<int16_t> y(static_cast<size_t>(copy.output().numel()), 99);
  const int16_t value = -7;
  copy.run(x.data(), y.data(), &value);
  return y;
}

using Row = std::vector<int16_t>;

TEST(PadCopy, EveryModeContinuesAsItSays) {
  EXPECT_EQ(row(3, 2, 1, PadMode::kConstant), (Row{-7, -7, 0, 1, 2, -7}));
  EXPECT_EQ(row(3, 2, 2, PadMode::kReflect), (Row{2, 1, 0, 1, 2, 1, 0}));
  EXPECT_EQ(row(3, 5, 0, PadMode::kReflect), (Row{1, 0, 1, 2, 1, 0, 1, 2}));
  EXPECT_EQ(row(3, 2, 2, PadMode::kEdge), (Row{0, 0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(row(3, 4, 2, PadMode::kWrap), (Row{2, 0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(row(1, 2, 1, PadMode::kReflect), (Row{0, 0, 0, 0}));
}

TEST(PadCopy, NegativeNumbersCut) {
  EXPECT_EQ(row(5, -1, -2, PadMode::kConstant), (Row{1, 2}));
  EXPECT_EQ(row(5, -2, 1, PadMode::kConstant), (Row{2, 3, 4, -7}));
  EXPECT_EQ(row(5, -1, 2, PadMode::kReflect), (Row{1, 2, 3, 4, 3, 2}));
  EXPECT_EQ(row(5, 2, -3, PadMode::kEdge), (Row{0, 0, 0, 1}));
  EXPECT_EQ(row(2, -1, -1, PadMode::kConstant), Row{});
  EXPECT_EQ(row(0, 2, 1, PadMode::kConstant), (Row{-7, -7, -7}));
  EXPECT_THROW(row(2, -2, -1, PadMode::kConstant), Error);
  EXPECT_THROW(row(0, 1, 0, PadMode::kEdge), Error);
}

TEST(PadCopy, AxesArePaddedIndependently) {
  const Shape in{2, 3, 40, 2};
  std::vector<float> x(static_cast<size_t>(in.numel()));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (const PadMode mode : {PadMode::kConstant, PadMode::kReflect, PadMode::kEdge, PadMode::kWrap}) {
    const std::vector<int64_t> begin = {1, 0, 3, 0}, end = {0, -1, 2, 0};
    const PadCopy copy(in, begin, end, mode, sizeof(float));
    ASSERT_EQ(copy.output(), (Shape{3, 2, 45, 2}));
    std::vector<float> y(static_cast<size_t>(copy.output().numel()));
    const float value = -1;
    copy.run(x.data(), y.data(), &value);
    const auto source = [&](int64_t at, int64_t n, int64_t before) -> int64_t {
      int64_t i = at - before;
      if (mode == PadMode::kConstant) return i < 0 || i >= n ? -1 : i;
      if (mode == PadMode::kEdge) return std::clamp<int64_t>(i, 0, n - 1);
      if (mode == PadMode::kWrap) return (i + n) % n;
      if (i < 0) i = -i;
      return i >= n ? 2 * (n - 1) - i : i;
    };
    size_t at = 0;
    for (int64_t a = 0; a < 3; ++a)
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t c = 0; c < 45; ++c)
          for (int64_t d = 0; d < 2; ++d, ++at) {
            const int64_t i = source(a, 2, 1), k = source(c, 40, 3);
            const float expected = i < 0 || k < 0 ? -1 : static_cast<float>(((i * 3 + b) * 40 + k) * 2 + d);
            ASSERT_EQ(y[at], expected)
                << static_cast<int>(mode) << ": " << a << " " << b << " " << c << " " << d;
          }
  }
}

TEST(PadCopy, AScalarIsCopied) {
  const PadCopy copy({}, {}, {}, PadMode::kConstant, 8);
  const double x = 3, value = 9;
  double y = 0;
  copy.run(&x, &y, &value);
  EXPECT_EQ(y, 3);
}

}  // namespace
}  // namespace assay::kernels::pad_test
