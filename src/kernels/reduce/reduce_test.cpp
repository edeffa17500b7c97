#include "kernels/reduce/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace assay::kernels::reduce_test {
namespace {

constexpr Reduction kAll[] = {Reduction::kSum,       Reduction::kMean, Reduction::kMax, Reduction::kMin,
                              Reduction::kSumSquare, Reduction::kL1,   Reduction::kL2};

double exact(Reduction kind, const std::vector<float>& x, int64_t at, int64_t count, int64_t stride) {
  double sum = 0, squares = 0, magnitudes = 0, low = x[at], high = x[at];
  for (int64_t r = 0; r < count; ++r) {
    const double v = x[at + r * stride];
    sum += v, squares += v * v, magnitudes += std::abs(v);
    low = std::min(low, v), high = std::max(high, v);
  }
  switch (kind) {
    case Reduction::kSum:
      return sum;
    case Reduction::kMean:
      return sum / static_cast<double>(count);
    case Reduction::kMax:
      return high;
    case Reduction::kMin:
      return low;
    case Reduction::kSumSquare:
      return squares;
    case Reduction::kL1:
      return magnitudes;
    case Reduction::kL2:
      return std::sqrt(squares);
  }
  return 0;
}

TEST(Reduce, MatchesAFloat64Loop) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-2, 3);
  const int64_t sizes[][3] = {{1, 1, 1}, {3, 7, 1},   {2, 64, 1},  {1, 5000, 1}, {130, 49, 1},
                              {2, 3, 5}, {4, 70, 16}, {1, 9, 100}, {3, 200, 33}, {64, 1, 3}};
  for (const auto& [outer, count, inner] : sizes)
    for (const Reduction kind : kAll) {
      std::vector<float> x(static_cast<size_t>(outer * count * inner)),
          y(static_cast<size_t>(outer * inner) + 1, 77);
      for (float& v : x) v = uniform(random);
      reduce(kind, x.data(), y.data(), outer, count, inner);
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) {
          const double t = exact(kind, x, o * count * inner + i, count, inner);
          const double m = exact(Reduction::kL1, x, o * count * inner + i, count, inner) * 3;
          ASSERT_NEAR(y[o * inner + i], t, m * 0x1p-24 * 12 + 1e-30)
              << static_cast<int>(kind) << " over " << outer << "x" << count << "x" << inner;
        }
      EXPECT_EQ(y.back(), 77);
    }
}

TEST(Reduce, MaxAndMinKeepNan) {
  for (const int64_t count : {3, 200})
    for (const int64_t inner : {1, 20})
      for (const Reduction kind : {Reduction::kMax, Reduction::kMin}) {
        std::vector<float> x(static_cast<size_t>(count * inner), 1), y(static_cast<size_t>(inner));
        for (int64_t i = 0; i < inner; ++i)
          x[(count / 2) * inner + i] = std::numeric_limits<float>::quiet_NaN();
        reduce(kind, x.data(), y.data(), 1, count, inner);
        for (const float v : y) EXPECT_TRUE(std::isnan(v));
      }
}

}  // namespace
}  // namespace assay::kernels::reduce_test
