#include "templates/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tensor/random_weights.h"

namespace assay::moments_test {
namespace {

ChannelMoments one(float mean, float variance) { return {{mean}, {variance}}; }

TEST(Moments, OfReluOfANormal) {
  const ChannelMoments y = activation_moments(one(0, 1), relu);
  EXPECT_NEAR(y.mean[0], 0.39894, 0.006);            // 1 / sqrt(2 pi)
  EXPECT_NEAR(y.variance[0], 0.5 - 0.15915, 0.006);  // 1/2 - 1 / (2 pi)
  const ChannelMoments far = activation_moments(one(30, 4), relu);
  EXPECT_NEAR(far.mean[0], 30, 1e-5);
  EXPECT_NEAR(far.variance[0], 4, 1e-4);
  EXPECT_EQ(activation_moments(one(-30, 1), relu).mean[0], 0.0F);
}

TEST(Moments, OfOtherActivations) {
  EXPECT_NEAR(activation_moments(one(6, 1), relu6).mean[0], 6 - 0.39894, 0.006);
  const ChannelMoments y = activation_moments(one(0, 1), silu);
  EXPECT_NEAR(y.mean[0], 0.20662, 0.001);  // numerical integrals
  EXPECT_NEAR(y.variance[0], 0.31311, 0.002);
}

TEST(Moments, LogisticIsAccurate) {
  for (double x = -12; x <= 12; x += 0.37)
    EXPECT_NEAR(logistic_function(x) * (1 + std::exp(-x)), 1, 4e-4) << x;
  EXPECT_NEAR(logistic_function(1000), 1, 1e-9);
  EXPECT_NEAR(logistic_function(-1000), 0, 1e-9);
}

TEST(Moments, OfTheLargestOfSeveral) {
  // Expected largest of n standard normal numbers: tables of order statistics.
  EXPECT_NEAR(max_moments(one(0, 1), 4, identity).mean[0], 1.0294, 0.02);
  EXPECT_NEAR(max_moments(one(0, 1), 9, identity).mean[0], 1.4850, 0.02);
  EXPECT_NEAR(max_moments(one(0, 1), 169, identity).mean[0], 2.687, 0.06);
  EXPECT_NEAR(max_moments(one(0, 1), 1, relu).mean[0], activation_moments(one(0, 1), relu).mean[0], 1e-6);
}

TEST(Moments, SumAndConcatenation) {
  const ChannelMoments sum = sum_moments(one(1, 2), one(3, 4));
  EXPECT_EQ(sum.mean[0], 4.0F);
  EXPECT_EQ(sum.variance[0], 6.0F);
  const ChannelMoments a = one(1, 2), b = one(3, 4);
  const ChannelMoments both = concat_moments({&a, &b});
  EXPECT_EQ(both.mean, (std::vector<float>{1, 3}));
  EXPECT_EQ(both.variance, (std::vector<float>{2, 4}));
}

TEST(Moments, WindowsCountWhatFallsOnPadding) {
  const Window same = {.kernel = 3, .stride = 1, .pad = 1};
  EXPECT_EQ(same.output_extent(8), 8);
  EXPECT_EQ(same.tap_shares(8), (std::vector<float>{7.0F / 8, 1, 7.0F / 8}));
  const Window stem = {.kernel = 7, .stride = 2, .pad = 3};
  EXPECT_EQ(stem.output_extent(224), 112);
  const Window plain = {.kernel = 2, .stride = 2};
  EXPECT_EQ(plain.tap_shares(6), (std::vector<float>{1, 1}));
}

/// Statistics of a convolution computed on many random maps, for comparison with the prediction.
ChannelMoments measured_conv(const ChannelMoments& x, const Tensor& w, const Window& window, int64_t groups,
                             int64_t extent, int rounds) {
  std::mt19937 random(5);
  const int64_t inputs = static_cast<int64_t>(x.mean.size()), outputs = w.dim(0), per_group = w.dim(1);
  const int64_t out_extent = window.output_extent(extent);
  std::vector<double> sum(static_cast<size_t>(outputs)), squares(sum);
  for (int round = 0; round < rounds; ++round) {
    std::vector<float> map;
    for (int64_t c = 0; c < inputs; ++c) {
      std::normal_distribution<float> normal(x.mean[static_cast<size_t>(c)],
                                             std::sqrt(x.variance[static_cast<size_t>(c)]));
      for (int64_t i = 0; i < extent * extent; ++i) map.push_back(normal(random));
    }
    for (int64_t m = 0; m < outputs; ++m)
      for (int64_t i = 0; i < out_extent * out_extent; ++i) {
        double y = 0;
        for (int64_t c = 0; c < per_group; ++c)
          for (int64_t k = 0; k < window.kernel * window.kernel; ++k) {
            const int64_t row = i / out_extent * window.stride - window.pad + k / window.kernel;
            const int64_t column = i % out_extent * window.stride - window.pad + k % window.kernel;
            if (row < 0 || column < 0 || row >= extent || column >= extent) continue;
            const int64_t channel = m / (outputs / groups) * per_group + c;
            y += w.data<float>()[(m * per_group + c) * window.kernel * window.kernel + k] *
                 map[static_cast<size_t>((channel * extent + row) * extent + column)];
          }
        sum[static_cast<size_t>(m)] += y;
        squares[static_cast<size_t>(m)] += y * y;
      }
  }
  ChannelMoments y;
  const double count = static_cast<double>(rounds * out_extent * out_extent);
  for (size_t m = 0; m < sum.size(); ++m) {
    y.mean.push_back(static_cast<float>(sum[m] / count));
    y.variance.push_back(static_cast<float>(squares[m] / count - sum[m] / count * sum[m] / count));
  }
  return y;
}

void expect_close(const ChannelMoments& predicted, const ChannelMoments& measured) {
  for (size_t m = 0; m < predicted.mean.size(); ++m) {
    EXPECT_NEAR(predicted.mean[m], measured.mean[m], 0.05 * std::sqrt(measured.variance[m])) << m;
    EXPECT_NEAR(predicted.variance[m] / measured.variance[m], 1, 0.1) << m;
  }
}

TEST(Moments, OfAConvolutionAgreeWithMeasurement) {
  const ChannelMoments x = {{0.5F, -0.2F, 0.1F, 0.3F}, {1.0F, 0.5F, 2.0F, 0.1F}};
  const Tensor dense = random_weights(1, "dense", {3, 4, 3, 3}, Init::normal(0.3));
  const Window strided = {.kernel = 3, .stride = 2, .pad = 1};
  expect_close(conv_moments(x, dense, {}, strided, 1, 16, 16), measured_conv(x, dense, strided, 1, 16, 100));
  const Tensor depthwise = random_weights(2, "depthwise", {4, 1, 5, 5}, Init::normal(0.3));
  const Window same = {.kernel = 5, .stride = 1, .pad = 2};
  expect_close(conv_moments(x, depthwise, {}, same, 4, 24, 24), measured_conv(x, depthwise, same, 4, 24, 40));
}

TEST(Moments, BiasesShiftTheMean) {
  const Tensor w = Tensor::from<float>({1, 1, 1, 1}, std::vector<float>{2});
  const Tensor bias = Tensor::vector(std::vector<float>{10});
  const ChannelMoments y = conv_moments(one(3, 5), w, bias, {}, 1, 4, 4);
  EXPECT_EQ(y.mean[0], 16.0F);
  EXPECT_EQ(y.variance[0], 20.0F);
}

TEST(Moments, OfATransposedConvolution) {
  // Taps 1 and 3 of a constant map give 2 and 6 in equal numbers: mean 4, variance 4.
  const Tensor w = Tensor::from<float>({1, 1, 2, 2}, std::vector<float>{1, 3, 1, 3});
  const ChannelMoments still = conv_transpose_moments(one(2, 0), w, {});
  EXPECT_EQ(still.mean[0], 4.0F);
  EXPECT_EQ(still.variance[0], 4.0F);
  // Plus noise of variance 1, times the mean square of the taps.
  EXPECT_EQ(conv_transpose_moments(one(2, 1), w, {}).variance[0], 9.0F);
}

TEST(Moments, AreEmptyWithoutWeights) {
  const Tensor w = weights_without_memory({4, 2, 1, 1});
  EXPECT_TRUE(conv_moments({}, w, {}, {}, 1, 8, 8).empty());
  EXPECT_TRUE(activation_moments({}, relu).empty());
  EXPECT_TRUE(sum_moments({}, {}).empty());
}

}  // namespace
}  // namespace assay::moments_test
