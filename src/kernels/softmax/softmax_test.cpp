#include "kernels/softmax/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace assay::kernels::softmax_test {
namespace {

std::vector<float> random_values(int64_t n) {
  std::mt19937 random(9);
  std::normal_distribution<float> normal(1, 6);
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = normal(random);
  return v;
}

TEST(Softmax, MatchesAFloat64Loop) {
  const int64_t sizes[][3] = {{1, 1, 1},  {3, 5, 1},   {2, 16, 1}, {7, 1000, 1},
                              {2, 10, 3}, {4, 16, 40}, {1, 33, 16}};
  for (const auto& [outer, count, inner] : sizes) {
    const std::vector<float> x = random_values(outer * count * inner);
    std::vector<float> y(x.size()), logarithm(x.size());
    softmax(x.data(), y.data(), outer, count, inner, 0.5f);
    log_softmax(x.data(), logarithm.data(), outer, count, inner);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        double sum_half = 0, sum = 0, largest = -HUGE_VAL;
        for (int64_t r = 0; r < count; ++r) {
          const double v = x[(o * count + r) * inner + i];
          sum_half += std::exp(v * 0.5), sum += std::exp(v), largest = std::max(largest, v);
        }
        for (int64_t r = 0; r < count; ++r) {
          const int64_t at = (o * count + r) * inner + i;
          const double v = x[at], t = std::exp(v * 0.5) / sum_half;
          // The rounded difference to the largest is an error of the exponential's argument; and the sum has
          // some.
          const double u = 0x1p-24, own = 24 + std::sqrt(static_cast<double>(count));
          ASSERT_NEAR(y[at], t, (own + (largest - v) * 0.5) * u * t) << outer << "x" << count << "x" << inner;
          ASSERT_NEAR(logarithm[at], v - std::log(sum), (own + std::abs(largest) + 2 * (largest - v)) * u);
        }
      }
  }
}

TEST(Softmax, MaskIsAddedWithItsStrides) {
  const int64_t batch = 2, heads = 3, queries = 4, keys = 21;
  const std::vector<float> x = random_values(batch * heads * queries * keys);
  std::vector<float> mask = random_values(batch * queries * keys), y(x.size());
  for (int64_t i = 0; i < batch * queries; ++i)
    mask[i * keys + i % keys] = -std::numeric_limits<float>::infinity();
  const SoftmaxMask m{.data = mask.data(),
                      .heads = heads,
                      .queries = queries,
                      .batch_stride = queries * keys,
                      .head_stride = 0,
                      .query_stride = keys,
                      .key_stride = 1};
  masked_softmax(x.data(), y.data(), batch * heads * queries, keys, 0.25f, m);
  for (int64_t r = 0; r < batch * heads * queries; ++r) {
    const int64_t b = r / queries / heads, q = r % queries;
    double sum = 0;
    for (int64_t k = 0; k < keys; ++k)
      sum += std::exp(x[r * keys + k] * 0.25 + mask[(b * queries + q) * keys + k]);
    for (int64_t k = 0; k < keys; ++k) {
      const double t = std::exp(x[r * keys + k] * 0.25 + mask[(b * queries + q) * keys + k]) / sum;
      // The argument of exp, up to 40 in magnitude, is itself rounded to float32.
      ASSERT_NEAR(y[r * keys + k], t, 40 * 0x1p-24 * 3 * t);
    }
  }
}

TEST(Softmax, InfinitiesAndNanFollowTheFormula) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = {-inf, 0, 0, nan, 1, 2, -inf, -inf, -inf}, y(9);
  softmax(x.data(), y.data(), 3, 3, 1);
  EXPECT_EQ(y[0], 0);
  EXPECT_FLOAT_EQ(y[1], 0.5f);
  for (int i = 3; i < 9; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
}

// A subnormal number takes processors a hundred times as long: masked ones are 0.
TEST(Softmax, MaskedNumbersBecomeZero) {
  const float masked[] = {-87.5F, -90, -100, -104, -200, -10000, std::numeric_limits<float>::lowest()};
  for (const int64_t columns : {1, 3}) {
    std::vector<float> x(static_cast<size_t>(40 * columns), -87), y(x.size());
    for (int64_t c = 0; c < columns; ++c) {
      x[static_cast<size_t>(c)] = 0;
      for (int64_t i = 0; i < std::ssize(masked); ++i)
        x[static_cast<size_t>((9 + i) * columns + c)] = masked[i];
    }
    softmax(x.data(), y.data(), 1, 40, columns);
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_TRUE(x[i] == 0 ? y[i] == 1 : x[i] == -87 ? y[i] > 0 : y[i] == 0) << columns << ": " << x[i];
  }
}

}  // namespace
}  // namespace assay::kernels::softmax_test
