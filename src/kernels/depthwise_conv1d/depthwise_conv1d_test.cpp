#include "kernels/depthwise_conv1d/depthwise_conv1d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/parallel.h"

namespace assay::kernels::depthwise_conv1d_test {
namespace {

void expect_float64_sums(const DepthwiseConv1d& c, bool with_bias) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto fill = [&](int64_t n) {
    std::vector<float> v(static_cast<size_t>(n));
    for (float& x : v) x = uniform(random);
    return v;
  };
  const std::vector<float> x = fill(c.rows * c.in), weights = fill(c.channels * c.taps),
                           bias = fill(c.channels);
  std::vector<float> y(static_cast<size_t>(c.rows * c.out) + 1, 7);
  depthwise_conv1d(c, x.data(), weights.data(), with_bias ? bias.data() : nullptr, y.data());
  for (int64_t i = 0; i < c.rows * c.out; ++i) {
    const int64_t r = i / c.out, channel = r % c.channels;
    double sum = with_bias ? bias[static_cast<size_t>(channel)] : 0, magnitude = std::abs(sum);
    for (int64_t t = 0; t < c.taps; ++t) {
      const int64_t at = i % c.out + t * c.dilation - c.begin;
      if (at < 0 || at >= c.in) continue;
      const double term = static_cast<double>(weights[static_cast<size_t>(channel * c.taps + t)]) *
                          x[static_cast<size_t>(r * c.in + at)];
      sum += term;
      magnitude += std::abs(term);
    }
    ASSERT_NEAR(y[static_cast<size_t>(i)], sum, magnitude * 0x1p-24 * static_cast<double>(c.taps + 1))
        << c.in << " to " << c.out << " by " << c.taps << " at " << i;
  }
  EXPECT_EQ(y.back(), 7);
}

TEST(DepthwiseConv1d, MatchesFloat64Sums) {
  for (const int64_t out : {1, 15, 16, 17, 49, 64, 67, 1024, 1031, 2100})
    for (const int64_t taps : {1, 2, 4, 15, 31}) {
      const int64_t reach = taps - 1;
      expect_float64_sums({.rows = 6, .channels = 3, .in = out, .out = out, .taps = taps, .begin = reach / 2},
                          true);
      expect_float64_sums({.rows = 5, .channels = 5, .in = out + reach, .out = out, .taps = taps}, false);
      expect_float64_sums(
          {.rows = 2, .channels = 1, .in = out, .out = out + reach, .taps = taps, .begin = reach}, false);
    }
}

TEST(DepthwiseConv1d, FiltersThatReachBeyondTheSignal) {
  expect_float64_sums({.rows = 3, .channels = 3, .in = 5, .out = 21, .taps = 9, .dilation = 7, .begin = 36},
                      true);
  expect_float64_sums({.rows = 1, .channels = 1, .in = 1, .out = 1, .taps = 3, .dilation = 512, .begin = 512},
                      true);
  expect_float64_sums({.rows = 2, .channels = 2, .in = 3, .out = 2000, .taps = 1, .begin = 1000}, true);
}

TEST(DepthwiseConv1d, EveryNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7, 16}) {
    const PoolScope scope(std::make_shared<ThreadPool>(threads));
    expect_float64_sums({.rows = 37, .channels = 37, .in = 501, .out = 501, .taps = 15, .begin = 7}, true);
  }
}

TEST(DepthwiseConv1d, InfinitiesAndNanStayWhereTheFilterSeesThem) {
  std::vector<float> x(40, 1), y(40);
  x[10] = std::numeric_limits<float>::infinity();
  x[30] = std::numeric_limits<float>::quiet_NaN();
  const float weights[] = {1, -2, 1};
  depthwise_conv1d({.rows = 1, .channels = 1, .in = 40, .out = 40, .taps = 3, .begin = 1}, x.data(), weights,
                   nullptr, y.data());
  for (int i = 1; i < 39; ++i) {
    if (std::abs(i - 30) <= 1)
      EXPECT_TRUE(std::isnan(y[static_cast<size_t>(i)])) << i;
    else if (std::abs(i - 10) <= 1)
      EXPECT_EQ(y[static_cast<size_t>(i)], i == 10 ? -x[10] : x[10]) << i;
    else
      EXPECT_EQ(y[static_cast<size_t>(i)], 0) << i;
  }
}

}  // namespace
}  // namespace assay::kernels::depthwise_conv1d_test
