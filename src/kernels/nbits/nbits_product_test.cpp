#include "kernels/nbits/nbits_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"
#include "kernels/nbits/nbits_test_util.h"

namespace assay::kernels::nbits_product_test {
namespace {

void check(std::mt19937& random, int64_t m, const RandomNbitsWeights& weights, bool has_bias) {
  const NbitsWeights& w = weights.w;
  std::vector<float> x(static_cast<size_t>(m * w.k)), bias(static_cast<size_t>(w.n), 0.5F),
      scratch(static_cast<size_t>(nbits_scratch_rows(m) * w.filled()), NAN),
      y(static_cast<size_t>(m * w.n + 1), 99);
  for (float& v : x) v = static_cast<float>(random() % 2001) / 1000 - 1;
  nbits_product(w, x.data(), m, has_bias ? bias.data() : nullptr, y.data(), scratch.data());
  EXPECT_EQ(y.back(), 99);
  for (int64_t r = 0; r < m; ++r)
    for (int64_t c = 0; c < w.n; ++c) {
      double sum = has_bias ? 0.5 : 0, size = 1;
      for (int64_t k = 0; k < w.k; ++k) {
        const double product = weights.at(c, k) * double{x[static_cast<size_t>(r * w.k + k)]};
        sum += product;
        size += std::fabs(product);
      }
      ASSERT_NEAR(y[static_cast<size_t>(r * w.n + c)], sum, size * 1e-6)
          << m << " " << w.n << " " << w.k << " " << w.block << " " << w.bits << " at " << r << ", " << c;
    }
}

TEST(NbitsProduct, LevelsOfEveryWidthInBlocks) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    std::mt19937 random(5);
    for (const int bits : {2, 4, 8})
      for (const int64_t block : {16, 32, 128})
        for (const int64_t k : {1, 16, 100, 256})
          for (const bool has_zeros : {false, true})
            for (const int64_t m : {1, 2, 3, 4, 8, 17, 200}) {
              if (m == 200 && (k != 100 || block == 128)) continue;
              const RandomNbitsWeights weights(random, m == 3 ? 70 : 7, k, block, bits, has_zeros);
              check(random, m, weights, m % 2 == 0);
            }
  });
}

TEST(NbitsProduct, KeepsNaNAndInfinity) {
  std::mt19937 random(6);
  const RandomNbitsWeights weights(random, 5, 64, 32, 4, true);
  std::vector<float> x(64, 1), y(5), scratch(64);
  x[9] = NAN;
  nbits_product(weights.w, x.data(), 1, nullptr, y.data(), scratch.data());
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
  x[9] = INFINITY;
  nbits_product(weights.w, x.data(), 1, nullptr, y.data(), scratch.data());
  for (int64_t c = 0; c < 5; ++c) {
    const double w = weights.at(c, 9);
    const float v = y[static_cast<size_t>(c)];
    EXPECT_TRUE(w == 0 ? std::isnan(v) : v == std::copysign(INFINITY, w)) << v << " for " << w;
  }
}

}  // namespace
}  // namespace assay::kernels::nbits_product_test
