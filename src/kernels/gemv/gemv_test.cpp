#include "kernels/gemv/gemv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/convert/convert.h"

namespace assay::kernels::gemv_test {
namespace {

TEST(Gemv, MatchesFloat64Products) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto fill = [&](int64_t n) {
    std::vector<float> v(static_cast<size_t>(n));
    for (float& x : v) x = uniform(random);
    return v;
  };
  for (int64_t m = 1; m <= kMaxGemvRows; ++m)
    for (const int64_t n : {1, 5, 16, 33, 1000, 4100})
      for (const int64_t k : {1, 7, 16, 100, 130})
        for (const bool with_bias : {false, true}) {
          const std::vector<float> x = fill(m * k), b = fill(k * n), bias = fill(n);
          std::vector<float> transposed(b.size()), y(static_cast<size_t>(m * n) + 1, 7), z = y;
          for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < n; ++j) transposed[j * k + i] = b[i * n + j];
          const int64_t parts = std::min<int64_t>(k, 3);
          std::vector<float> scratch(static_cast<size_t>((parts - 1) * m * n));
          gemv_columns(m, n, k, x.data(), {b.data()}, with_bias ? bias.data() : nullptr, y.data(),
                       scratch.data(), parts);
          gemv_rows(m, n, k, x.data(), {transposed.data()}, with_bias ? bias.data() : nullptr, z.data());
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              double t = with_bias ? bias[j] : 0, magnitude = std::abs(t);
              for (int64_t p = 0; p < k; ++p) {
                t += static_cast<double>(x[i * k + p]) * b[p * n + j];
                magnitude += std::abs(static_cast<double>(x[i * k + p]) * b[p * n + j]);
              }
              const double bound = magnitude * 0x1p-24 * static_cast<double>(k + 2);
              ASSERT_NEAR(y[i * n + j], t, bound) << m << "x" << n << "x" << k;
              ASSERT_NEAR(z[i * n + j], t, bound) << m << "x" << n << "x" << k;
            }
          EXPECT_EQ(y.back(), 7);
          EXPECT_EQ(z.back(), 7);
        }
}

/// A matrix of 16 bits gives bit by bit what the same numbers in float32 give.
TEST(Gemv, NarrowMatricesAreWidenedExactly) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const DType type : {DType::kFloat16, DType::kBFloat16})
    for (const int64_t m : {1, 2, 3, 4})
      for (const int64_t n : {1, 9, 40})
        for (const int64_t k : {1, 13, 64}) {
          std::vector<float> x(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
          for (float& v : x) v = uniform(random);
          for (float& v : b) v = uniform(random);
          std::vector<uint16_t> bits(b.size());
          narrow_row(type, b.data(), bits.data(), b.size());
          widen_row(type, bits.data(), b.data(), b.size());
          std::vector<float> wide(static_cast<size_t>(m * n)), got(wide.size()), scratch(wide.size());
          gemv_columns(m, n, k, x.data(), {b.data()}, nullptr, wide.data(), scratch.data(), 1);
          gemv_columns(m, n, k, x.data(), {bits.data(), type}, nullptr, got.data(), scratch.data(), 1);
          EXPECT_EQ(got, wide) << m << "x" << n << "x" << k;
          gemv_rows(m, n, k, x.data(), {b.data()}, nullptr, wide.data());
          gemv_rows(m, n, k, x.data(), {bits.data(), type}, nullptr, got.data());
          EXPECT_EQ(got, wide) << m << "x" << n << "x" << k;
        }
}

}  // namespace
}  // namespace assay::kernels::gemv_test
