#include "kernels/int8/dynamic_quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/parallel.h"

namespace assay::kernels::dynamic_quantize_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

uint8_t level(float x, const DynamicRange& r) {
  const float shifted = std::nearbyint(x / r.scale) + static_cast<float>(r.zero_point);
  return shifted > 0 ? static_cast<uint8_t>(std::min(shifted, 255.0F)) : 0;
}

TEST(DynamicQuantize, TakesTheRangeOfTheNumbersAndZero) {
  std::mt19937 random(3);
  for (const int64_t count : {1, 2, 7, 15, 16, 17, 31, 33, 1000, 65537, 200001})
    for (const auto& [low, high] : {std::pair(-2.0F, 3.0F), {1.0F, 5.0F}, {-4.0F, -3.0F}, {0.0F, 0.0F}}) {
      std::uniform_real_distribution<float> uniform(0, 1);
      std::vector<float> x(static_cast<size_t>(count));
      for (float& v : x) v = low + (high - low) * uniform(random);
      const float least = std::min(0.0F, *std::min_element(x.begin(), x.end())),
                  most = std::max(0.0F, *std::max_element(x.begin(), x.end()));
      const DynamicRange r = dynamic_range(x.data(), count);
      EXPECT_EQ(r.scale, most == least ? 1.0F : (most - least) / 255);
      EXPECT_EQ(r.zero_point, std::nearbyint(-least / r.scale));
      std::vector<uint8_t> y(x.size() + 1, 77);
      quantize_uint8(x.data(), count, r, y.data());
      EXPECT_EQ(y.back(), 77);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], level(x[i], r)) << i;
    }
}

TEST(DynamicQuantize, HalvesGoToEvenNumbers) {
  // The scale is 1 and 0 has the level 128.
  const std::vector<float> x = {-128, 127, 0.5F, 1.5F, -0.5F, -1.5F, 2.5F};
  const DynamicRange r = dynamic_range(x.data(), static_cast<int64_t>(x.size()));
  EXPECT_EQ(r.scale, 1);
  std::vector<uint8_t> y(x.size());
  quantize_uint8(x.data(), static_cast<int64_t>(x.size()), r, y.data());
  EXPECT_EQ(y, (std::vector<uint8_t>{0, 255, 128, 130, 128, 126, 130}));
}

/// Where a product by the inverse would round to another side than the quotient.
TEST(DynamicQuantize, NumbersNextToTies) {
  std::mt19937 random(8);
  std::uniform_real_distribution<float> exponent(-40, 40);
  for (int round = 0; round < 300; ++round) {
    DynamicRange r;
    r.scale = round == 0 ? 1e-39F : round == 1 ? 2.5e38F : std::exp2(exponent(random));
    r.zero_point = static_cast<uint8_t>(random());
    std::vector<float> x;
    for (int n = -256; n < 256; ++n) {
      const float tie = (static_cast<float>(n) + 0.5F) * r.scale;
      for (const float v : {std::nextafter(tie, -kInf), tie, std::nextafter(tie, kInf)})
        if (std::isfinite(v)) x.push_back(v);
    }
    std::vector<uint8_t> y(x.size());
    quantize_uint8(x.data(), static_cast<int64_t>(x.size()), r, y.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], level(x[i], r)) << x[i] << " by " << r.scale;
  }
}

TEST(DynamicQuantize, NumbersThatAreNone) {
  std::vector<float> x(40, 1);
  x[0] = x[33] = kNaN;
  const DynamicRange r = dynamic_range(x.data(), 40);
  EXPECT_EQ(r.scale, 1.0F / 255);
  std::vector<uint8_t> y(40);
  quantize_uint8(x.data(), 40, r, y.data());
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 255);
  EXPECT_EQ(y[33], 0);
  quantize_uint8(std::vector<float>{kInf, -kInf}.data(), 2, {0.5F, 3}, y.data());
  EXPECT_EQ(y[0], 255);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(dynamic_range(x.data(), 0).scale, 1);
}

TEST(DynamicQuantize, ThreadsInAnyNumber) {
  std::vector<float> x(300000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1013) - 300;
  const DynamicRange wanted = dynamic_range(x.data(), 300000);
  for (int threads = 1; threads <= 16; ++threads) {
    const PoolScope scope(std::make_shared<ThreadPool>(threads));
    const DynamicRange r = dynamic_range(x.data(), 300000);
    EXPECT_EQ(r.scale, wanted.scale);
    EXPECT_EQ(r.zero_point, wanted.zero_point);
  }
}

}  // namespace
}  // namespace assay::kernels::dynamic_quantize_test
