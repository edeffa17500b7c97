#include "kernels/grouped_gemm/grouped_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::kernels::grouped_gemm_test {
namespace {

void expect_float64_products(const GroupedGemm& p, bool with_bias) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto fill = [&](int64_t n) {
    std::vector<float> v(static_cast<size_t>(n));
    for (float& x : v) x = uniform(random);
    return v;
  };
  const std::vector<float> a = fill(p.groups * p.m * p.k), x = fill(p.batch * p.groups * p.k * p.n),
                           bias = fill(p.groups * p.m);
  std::vector<float> y(static_cast<size_t>(p.batch * p.groups * p.m * p.n) + 1, 7);
  grouped_gemm(p, a.data(), x.data(), with_bias ? bias.data() : nullptr, y.data());
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()) - 1; ++i) {
    const int64_t column = i % p.n, row = i / p.n % p.m, product = i / p.n / p.m, group = product % p.groups;
    double t = with_bias ? bias[group * p.m + row] : 0, magnitude = std::abs(t);
    for (int64_t k = 0; k < p.k; ++k) {
      const double term =
          static_cast<double>(a[(group * p.m + row) * p.k + k]) * x[(product * p.k + k) * p.n + column];
      t += term;
      magnitude += std::abs(term);
    }
    ASSERT_NEAR(y[i], t, magnitude * 0x1p-24 * static_cast<double>(p.k + 1))
        << p.m << "x" << p.n << "x" << p.k << " at " << i;
  }
  EXPECT_EQ(y.back(), 7);
}

TEST(GroupedGemm, MatchesFloat64Products) {
  for (const int64_t m : {1, 7, 28})
    for (const int64_t n : {1, 16, 49, 97, 784})
      for (const int64_t k : {1, 6, 68}) {
        expect_float64_products({.batch = 1, .groups = 4, .m = m, .n = n, .k = k}, true);
        expect_float64_products({.batch = 2, .groups = 3, .m = m, .n = n, .k = k}, false);
      }
}

}  // namespace
}  // namespace assay::kernels::grouped_gemm_test
