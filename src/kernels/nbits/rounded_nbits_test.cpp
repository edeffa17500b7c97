#include "kernels/nbits/rounded_nbits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/nbits/nbits_test_util.h"

namespace assay::kernels::rounded_nbits_test {
namespace {

std::vector<float> product(const RandomNbitsWeights& weights, const std::vector<float>& x, int64_t m,
                           const float* bias) {
  const NbitsWeights& w = weights.w;
  std::vector<float> y(static_cast<size_t>(m * w.n + 1), 99),
      scratch(static_cast<size_t>(rounded_nbits_scratch(w, m)) / sizeof(float), NAN);
  rounded_nbits_product(w, x.data(), m, bias, y.data(), scratch.data());
  EXPECT_EQ(y.back(), 99);
  y.pop_back();
  return y;
}

/// A row as whole multiples of its blocks' scales.
std::vector<double> rounded(const float* x, const NbitsWeights& w) {
  std::vector<double> to(static_cast<size_t>(w.k));
  for (int64_t first = 0; first < w.k; first += w.block) {
    const int64_t last = std::min(first + w.block, w.k);
    float largest = 0;
    for (int64_t k = first; k < last; ++k) largest = std::max(largest, std::fabs(x[k]));
    for (int64_t k = first; k < last; ++k)
      to[static_cast<size_t>(k)] =
          largest == 0 ? 0 : std::nearbyint(x[k] * (127 / largest)) * double{largest} / 127;
  }
  return to;
}

void check(std::mt19937& random, int64_t m, const RandomNbitsWeights& weights, bool has_bias) {
  const NbitsWeights& w = weights.w;
  std::vector<float> x(static_cast<size_t>(m * w.k)), bias(static_cast<size_t>(w.n), 0.5F);
  for (float& v : x) v = static_cast<float>(random() % 2001) / 1000 - 1;
  const std::vector<float> y = product(weights, x, m, has_bias ? bias.data() : nullptr);
  for (int64_t r = 0; r < m; ++r) {
    const std::vector<double> row = rounded(x.data() + r * w.k, w);
    for (int64_t c = 0; c < w.n; ++c) {
      double sum = has_bias ? 0.5 : 0, size = 1;
      for (int64_t k = 0; k < w.k; ++k) {
        const double term = weights.at(c, k) * row[static_cast<size_t>(k)];
        sum += term;
        // Levels and zero points are multiplied apart.
        size += std::fabs(row[static_cast<size_t>(k)]) * (1 << w.bits) *
                double{weights.scales[static_cast<size_t>(c * w.blocks() + k / w.block)]};
      }
      ASSERT_NEAR(y[static_cast<size_t>(r * w.n + c)], sum, size * 1e-6)
          << m << " " << w.n << " " << w.k << " " << w.block << " " << w.bits << " at " << r << ", " << c;
    }
  }
}

TEST(RoundedNbits, LevelsOfEveryWidthInBlocks) {
  std::mt19937 random(5);
  for (const int bits : {2, 4, 8}) {
    if (!has_rounded_nbits(bits, 1)) continue;
    for (const int64_t block : {16, 32, 64, 128, 1024})
      for (const int64_t k : {1, 16, 100, 256, 2100})
        for (const bool has_zeros : {false, true})
          for (const int64_t m : {1, 3, 4, 9})
            check(random, m, RandomNbitsWeights(random, m == 3 ? 70 : 7, k, block, bits, has_zeros),
                  m % 2 == 0);
  }
}

TEST(RoundedNbits, DoesNotRoundNaNInfinityAndTinyNumbers) {
  std::mt19937 random(6);
  const RandomNbitsWeights weights(random, 5, 64, 32, 4, true);
  std::vector<float> x(64, 1);
  x[9] = NAN;
  for (const float v : product(weights, x, 1, nullptr)) EXPECT_TRUE(std::isnan(v));
  x[9] = INFINITY;
  for (int64_t c = 0; c < 5; ++c) {
    const double w = weights.at(c, 9);
    const float v = product(weights, x, 1, nullptr)[static_cast<size_t>(c)];
    EXPECT_TRUE(w == 0 ? std::isnan(v) : v == std::copysign(INFINITY, w)) << v << " for " << w;
  }
  x.assign(64, 1e-37F);
  for (int64_t c = 0; c < 5; ++c) {
    double sum = 0;
    for (int64_t k = 0; k < 64; ++k) sum += weights.at(c, k) * 1e-37;
    EXPECT_NEAR(product(weights, x, 1, nullptr)[static_cast<size_t>(c)], sum, 1e-42 + std::fabs(sum) * 1e-4);
  }
}

TEST(RoundedNbits, ManyRowsAreNotRounded) {
  EXPECT_FALSE(has_rounded_nbits(4, 1000));
  EXPECT_FALSE(has_rounded_nbits(16, 1));
}

}  // namespace
}  // namespace assay::kernels::rounded_nbits_test
