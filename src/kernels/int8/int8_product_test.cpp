#include "kernels/int8/int8_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace assay::kernels::int8_product_test {
namespace {

std::vector<int16_t> numbers(std::mt19937& random, int64_t count, int low, int high) {
  std::uniform_int_distribution<int> uniform(low, high);
  std::vector<int16_t> v(static_cast<size_t>(count));
  for (int16_t& x : v) x = static_cast<int16_t>(uniform(random));
  return v;
}

TEST(Int8Product, SumsAreExact) {
  std::mt19937 random(1);
  for (const int64_t rows : {1, 2, 3, 5, 6, 7, 11, 12, 13, 30})
    for (const int64_t n : {1, 15, 16, 17, 40})
      for (const int64_t k : {1, 2, 9, 64, 301, 1025, 2049})
        for (const bool wide : {false, true}) {
          const Int8Weights w{n, k, wide};
          const std::vector<int16_t> b = numbers(random, k * n, wide ? -255 : -128, wide ? 255 : 127);
          const int64_t length = int8_row_length(k);
          std::vector<int16_t> a = numbers(random, rows * length, -255, 255);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t i = k; i < length; ++i) a[r * length + i] = 0;
          std::vector<char> packed(static_cast<size_t>(w.bytes()));
          pack_int8_weights(w, b.data(), n, 1, packed.data());
          const int64_t stride = w.panels() * kInt8Columns;
          std::vector<int32_t> sums(static_cast<size_t>(rows * stride), 77);
          int8_product(w, packed.data(), 0, w.panels(), a.data(), rows, sums.data(), stride);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < n; ++c) {
              int64_t sum = 0;
              for (int64_t i = 0; i < k; ++i) sum += int64_t{a[r * length + i]} * b[i * n + c];
              ASSERT_EQ(sums[r * stride + c], sum) << rows << " " << n << " " << k;
            }
        }
}

/// Where instructions with 16-bit sums saturate, as vpmaddubsw does.
TEST(Int8Product, TheLargestProductsDoNotSaturate) {
  const int64_t k = kMaxInt8Sum / 2 * 2;
  const Int8Weights w{16, k, true};
  const std::vector<int16_t> b(static_cast<size_t>(k * 16), 255), a(static_cast<size_t>(k), 255);
  std::vector<char> packed(static_cast<size_t>(w.bytes()));
  pack_int8_weights(w, b.data(), 16, 1, packed.data());
  std::vector<int32_t> sums(16);
  int8_product(w, packed.data(), 0, 1, a.data(), 1, sums.data(), 16);
  for (const int32_t s : sums) EXPECT_EQ(s, k * 255 * 255);
}

TEST(Int8Product, WidensLessTheZeroPoint) {
  for (int64_t n = 0; n < 70; ++n) {
    std::vector<uint8_t> u(static_cast<size_t>(n));
    std::vector<int8_t> s(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) u[i] = static_cast<uint8_t>(i * 37), s[i] = static_cast<int8_t>(u[i]);
    std::vector<int16_t> to(static_cast<size_t>(n) + 1, 9999);
    widen_int8(u.data(), false, 200, to.data(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(to[i], u[i] - 200);
    widen_int8(s.data(), true, -100, to.data(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(to[i], s[i] + 100);
    EXPECT_EQ(to[n], 9999);
  }
}

TEST(Int8Product, RequantizesAsTheOperatorsOneByOne) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int32_t> uniform(-40000, 40000);
  const float inf = std::numeric_limits<float>::infinity();
  for (const int64_t n : {1, 7, 8, 33}) {
    std::vector<int32_t> sums(static_cast<size_t>(n));
    std::vector<float> scale(sums.size()), bias(sums.size()), y(sums.size() + 1, 5);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = uniform(random), scale[i] = 0.001F * static_cast<float>(i + 1),
      bias[i] = static_cast<float>(i) - 3;
    scale_sums(sums.data(), n, scale.data(), bias.data(), y.data());
    EXPECT_EQ(y.back(), 5);
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto sum = static_cast<float>(sums[i]);
      const volatile float product = sum * scale[i];  // rounded, where a processor has no fused operation
      EXPECT_TRUE(y[i] == std::fma(sum, scale[i], bias[i]) || y[i] == product + bias[i]) << y[i];
    }
    for (const bool is_signed : {false, true})
      for (const float low : {-inf, 0.0F}) {
        const Requantization r{low, 20, 0.25F, is_signed ? -5 : 30, is_signed};
        std::vector<uint8_t> q(sums.size() + 1, 123);
        requantize(sums.data(), n, scale.data(), bias.data(), r, q.data());
        EXPECT_EQ(q.back(), 123);
        for (size_t i = 0; i < sums.size(); ++i) {
          const double v = std::nearbyint(std::min(20.0F, std::max(y[i], low)) / 0.25F) + r.zero_point;
          if (is_signed)
            EXPECT_EQ(static_cast<int8_t>(q[i]), std::min(127.0, std::max(-128.0, v)));
          else
            EXPECT_EQ(q[i], std::min(255.0, std::max(0.0, v)));
        }
      }
  }
}

}  // namespace
}  // namespace assay::kernels::int8_product_test
