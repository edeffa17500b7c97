#include "kernels/normalize/channel_response.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::kernels::channel_response_test {
namespace {

/// Where channel c of a pixel lies in an image.
int64_t place(const ChannelResponse& n, int64_t c, int64_t p) {
  return n.block == 1 ? c * n.pixels + p : (c / n.block * n.pixels + p) * n.block + c % n.block;
}

/// The base of the power at a channel of a pixel.
double base_of(const ChannelResponse& n, const float* image, int64_t c, int64_t p) {
  double sum = 0;
  const int64_t before = (n.size - 1) / 2;
  for (int64_t k = std::max<int64_t>(0, c - before); k < std::min(n.channels, c - before + n.size); ++k)
    sum += std::pow(static_cast<double>(image[place(n, k, p)]), 2);
  return static_cast<double>(n.bias) + static_cast<double>(n.alpha) / static_cast<double>(n.size) * sum;
}

void check(ChannelResponse n, double range) {
  std::mt19937 random(static_cast<unsigned>(n.channels * 31 + n.pixels));
  std::uniform_real_distribution<float> uniform(-1, 1);
  const int64_t blocks = (n.channels + n.block - 1) / n.block, image = blocks * n.block * n.pixels;
  std::vector<float> x(static_cast<size_t>(n.images * image)), y(x.size() + 1, 77);
  for (int64_t i = 0; i < n.images; ++i)
    for (int64_t c = 0; c < n.channels; ++c)
      for (int64_t p = 0; p < n.pixels; ++p)
        x[static_cast<size_t>(i * image + place(n, c, p))] = uniform(random) * static_cast<float>(range);
  channel_response(n, x.data(), y.data());
  EXPECT_EQ(y.back(), 77);
  for (int64_t i = 0; i < n.images; ++i)
    for (int64_t c = 0; c < blocks * n.block; ++c)
      for (int64_t p = 0; p < n.pixels; ++p) {
        const float result = y[static_cast<size_t>(i * image + place(n, c, p))];
        if (c >= n.channels) {
          ASSERT_EQ(result, 0);
          continue;
        }
        const float* const own = x.data() + i * image;
        const double base = base_of(n, own, c, p), beta = static_cast<double>(n.beta),
                     wanted = own[place(n, c, p)] / std::pow(base, beta);
        // Of a power as exp(beta log base), and of the sum.
        const double explained =
            (beta * std::abs(std::log(base)) + static_cast<double>(n.size) + 6) * 0x1p-24;
        ASSERT_NEAR(result, wanted, explained * std::abs(wanted))
            << c << " of " << n.channels << " channels, pixel " << p << " of " << n.pixels;
      }
}

TEST(ChannelResponse, IsTheFormulaInEveryLayout) {
  for (const int64_t channels : {1, 3, 16, 33})
    for (const int64_t pixels : {1, 5, 37})
      for (const int64_t block : {int64_t{1}, int64_t{8}, int64_t{16}, channels})
        for (const int64_t size : {1, 2, 5, 40})
          for (const float beta : {0.75F, 1.0F, 0.6F})
            check({.images = 2,
                   .channels = channels,
                   .pixels = pixels,
                   .block = block,
                   .size = size,
                   .alpha = 0.5F,
                   .beta = beta,
                   .bias = 1.5F},
                  4);
}

TEST(ChannelResponse, HoldsAsLongAsSquaresDo) {
  for (const double range : {1e10, 1e18, 1e-30})
    for (const float beta : {0.75F, 0.6F})
      check({.images = 1, .channels = 20, .pixels = 9, .size = 5, .alpha = 1e-4F, .beta = beta, .bias = 1},
            range);
}

TEST(ChannelResponse, InfinityAndNanGoWhereTheFormulaPutsThem) {
  std::vector<float> x = {INFINITY, 1, 2, 3, NAN, 5}, y(6);
  channel_response({.images = 1, .channels = 6, .pixels = 1, .size = 3, .alpha = 1, .beta = 0.75F, .bias = 1},
                   x.data(), y.data());
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[3]) && std::isnan(y[4]) && std::isnan(y[5]));
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isfinite(y[2]));
}

}  // namespace
}  // namespace assay::kernels::channel_response_test
