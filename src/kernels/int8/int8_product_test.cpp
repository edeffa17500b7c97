#include "kernels/int8/int8_product.h"
#include "kernels/int8/requantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
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

/// Rows of random levels, zeros behind them.
struct Levels {
  Levels(std::mt19937& random, int64_t rows, int64_t k, int zero)
      : zero_point(zero), length(int8_row_length(k)) {
    bytes.resize(static_cast<size_t>(rows * length));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < k; ++i) bytes[r * length + i] = static_cast<uint8_t>(random());
  }
  int number(int64_t row, int64_t i) const { return bytes[row * length + i] - zero_point; }

  int zero_point;
  int64_t length;
  std::vector<uint8_t> bytes;
};

/// int8 levels; uint8 ones less their middle; ones whose columns need shifts of either sign.
struct Range {
  int low, high;
};

TEST(Int8Product, SumsAreExact) {
  std::mt19937 random(1);
  for (const int64_t rows : {1, 2, 3, 7, 12, 13, 30, 200})
    for (const int64_t n : {1, 17, 65})
      for (const int64_t k : {1, 9, 64, 1025}) {
        if (rows == 200 && k > 64) continue;
        for (const Range range : {Range{-128, 127}, Range{0, 255}, Range{-255, 0}})
          for (const int zero : {0, 128, 255}) {
            const Int8Weights w{n, k};
            const std::vector<int16_t> b = numbers(random, k * n, range.low, range.high);
            const Levels a(random, rows, k, zero);
            std::vector<char> packed(static_cast<size_t>(w.bytes()));
            pack_int8_weights(w, b.data(), n, 1, packed.data());
            const int64_t stride = w.panels() * kInt8Columns;
            std::vector<int32_t> sums(static_cast<size_t>(rows * stride), 77);
            int8_product(w, packed.data(), 0, w.panels(), {a.bytes.data(), a.length, zero}, rows, sums.data(),
                         stride);
            for (int64_t r = 0; r<rows; r += rows> 30 ? 17 : 1)
              for (int64_t c = 0; c < n; ++c) {
                int64_t sum = 0;
                for (int64_t i = 0; i < k; ++i) sum += int64_t{a.number(r, i)} * b[i * n + c];
                ASSERT_EQ(sums[r * stride + c], sum) << rows << " " << n << " " << k << " " << zero;
              }
          }
      }
}

/// Where instructions with 16-bit sums saturate, as vpmaddubsw does, and where the corrections wrap.
TEST(Int8Product, TheLargestProductsDoNotSaturate) {
  const int64_t k = kMaxInt8Sum / 4 * 4;
  const Int8Weights w{16, k};
  std::vector<char> packed(static_cast<size_t>(w.bytes()));
  std::vector<int32_t> sums(16);
  for (const int16_t number : {int16_t{255}, int16_t{-255}})
    for (const bool low : {false, true}) {
      const std::vector<int16_t> b(static_cast<size_t>(k * 16), number);
      const std::vector<uint8_t> a(static_cast<size_t>(k), low ? 0 : 255);
      pack_int8_weights(w, b.data(), 16, 1, packed.data());
      int8_product(w, packed.data(), 0, 1, {a.data(), k, low ? 255 : 0}, 1, sums.data(), 16);
      for (const int32_t s : sums) EXPECT_EQ(s, k * number * (low ? -255 : 255));
    }
}

/// Weights as networks have them: few pairs of large ones, here and there or in every other four.
TEST(Int8Product, FewPairsOfLargeWeightsAreExact) {
  std::mt19937 random(5);
  for (const double deviation : {10., 25., 42., 60.})
    for (const int64_t k : {4, 255, 256, 260, 1000})
      for (const int64_t rows : {1, 2, 5}) {
        const int64_t n = 40;
        std::normal_distribution<double> normal(0, deviation);
        std::vector<int16_t> b(static_cast<size_t>(k * n));
        for (int16_t& x : b) x = static_cast<int16_t>(std::clamp(normal(random), -128., 127.));
        // At the ends of what fits in 16 bits, and just beyond, in the first, in the last and in some four.
        for (const int64_t row : {int64_t{0}, k / 2, k - 2})
          for (const int64_t i : {0, 1}) {
            b[(row + i) * n] = static_cast<int16_t>(64 + i), b[(row + i) * n + 17] = int16_t{-64};
            b[(row + i) * n + 20] = int16_t{127}, b[(row + i) * n + 39] = int16_t{-128};
          }
        const Int8Weights w{n, k};
        std::vector<uint8_t> a(static_cast<size_t>(rows * int8_row_length(k)));
        for (size_t i = 0; i < a.size(); ++i)
          if (static_cast<int64_t>(i) % int8_row_length(k) < k) a[i] = random() % 3 == 0 ? random() : 255;
        std::vector<char> packed(static_cast<size_t>(w.bytes()));
        pack_int8_weights(w, b.data(), n, 1, packed.data());
        const int64_t stride = w.panels() * kInt8Columns;
        std::vector<int32_t> sums(static_cast<size_t>(rows * stride));
        int8_product(w, packed.data(), 0, w.panels(), {a.data(), int8_row_length(k), 3}, rows, sums.data(),
                     stride);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < n; ++c) {
            int64_t sum = 0;
            for (int64_t i = 0; i < k; ++i)
              sum += (a[r * int8_row_length(k) + i] - 3) * int64_t{b[i * n + c]};
            ASSERT_EQ(sums[r * stride + c], sum) << deviation << " " << k << " " << rows << " " << c;
          }
      }
}

TEST(Int8Product, ReadsPanelsAndRowsThatLieApart) {
  std::mt19937 random(4);
  const int64_t k = 12, n = 48, rows = 5, pitch = 40;
  const Int8Weights w{n, k};
  const std::vector<int16_t> b = numbers(random, k * n, 0, 255);
  std::vector<uint8_t> a(static_cast<size_t>(rows * pitch));
  for (uint8_t& x : a) x = static_cast<uint8_t>(random());
  std::vector<char> packed(static_cast<size_t>(w.bytes()));
  pack_int8_weights(w, b.data(), n, 1, packed.data());
  std::vector<int32_t> sums(static_cast<size_t>(rows * 40), 77);
  int8_product(w, packed.data(), 1, 2, {a.data(), pitch, 9}, rows, sums.data(), 40);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < 40; ++c) {
      int32_t sum = c < 32 ? 0 : 77;
      for (int64_t i = 0; c < 32 && i < k; ++i) sum += (a[r * pitch + i] - 9) * b[i * n + 16 + c];
      ASSERT_EQ(sums[r * 40 + c], sum);
    }
}

/// Scales and biases at which sums fall on ties, beside them and anywhere; the last kind is beyond what is
/// done without storing the sums.
struct QuantizedCase {
  float scale, bias, step;
};

TEST(Int8Product, LevelsAreThoseOfTheStoredSums) {
  std::mt19937 random(8);
  const float inf = std::numeric_limits<float>::infinity();
  for (const int64_t rows : {1, 2, 3, 5, 12, 23, 200})
    for (const int64_t n : {1, 16, 31, 33, 64, 77, 130})
      for (const int64_t k : {1, 9, 64, 1025}) {
        if (rows == 200 && k > 64) continue;
        const Int8Weights w{n, k};
        const std::vector<int16_t> b = numbers(random, k * n, n % 2 == 0 ? 0 : -128, n % 2 == 0 ? 255 : 127);
        const Levels a(random, rows, k, 131);
        std::vector<char> packed(static_cast<size_t>(w.bytes()));
        pack_int8_weights(w, b.data(), n, 1, packed.data());
        const int64_t stride = w.panels() * kInt8Columns, pitch = n + 3;
        std::vector<int32_t> sums(static_cast<size_t>(rows * stride)), scratch(sums.size());
        int8_product(w, packed.data(), 0, w.panels(), {a.bytes.data(), a.length, 131}, rows, sums.data(),
                     stride);
        for (const QuantizedCase& each :
             {QuantizedCase{0.0078125F, 3, 8}, QuantizedCase{0.00101F, 0.7F, 0.31F},
              QuantizedCase{0.0031F, 0, 0.11F}, QuantizedCase{0.01F, 900, 1}})
          for (const Requantization& r :
               {Requantization{-inf, inf, each.step, 128, false}, Requantization{0, 6, each.step, -128, true},
                Requantization{-3, inf, each.step, 3, true}}) {
            std::vector<float> scale(static_cast<size_t>(n)), bias(scale.size());
            for (size_t c = 0; c < scale.size(); ++c)
              scale[c] = each.scale * static_cast<float>(1 + c % 2),
              bias[c] = each.bias - static_cast<float>(c);
            std::vector<uint8_t> expected(static_cast<size_t>(rows * pitch), 99), q = expected;
            const float* const biases = each.bias == 0 ? nullptr : bias.data();
            requantize({sums.data(), stride, rows, n}, {scale.data(), biases, r, expected.data(), pitch});
            int8_product_quantized(w, packed.data(), 0, n, {a.bytes.data(), a.length, 131}, rows,
                                   scratch.data(), stride, {scale.data(), biases, r, q.data(), pitch});
            ASSERT_EQ(q, expected) << rows << " " << n << " " << k << " " << each.scale << " " << r.is_signed;
          }
      }
}

TEST(Int8Product, LevelsOfInt8AreBroughtUp) {
  for (int64_t n = 0; n < 70; ++n) {
    std::vector<uint8_t> from(static_cast<size_t>(n)), to(static_cast<size_t>(n) + 1, 99);
    for (int64_t i = 0; i < n; ++i) from[i] = static_cast<uint8_t>(i * 37);
    to_unsigned_quantized(from.data(), false, to.data(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(to[i], from[i]);
    to_unsigned_quantized(from.data(), true, to.data(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(to[i], static_cast<int8_t>(from[i]) + 128);
    EXPECT_EQ(to[n], 99);
  }
}

TEST(Int8Product, SumsBecomeFloats) {
  for (const int64_t n : {1, 7, 16, 37})
    for (const bool adds : {false, true}) {
      std::vector<int32_t> sums(static_cast<size_t>(n) + 1), addend(sums.size());
      for (int64_t i = 0; i <= n; ++i)
        sums[i] = static_cast<int32_t>(i * 1234567), addend[i] = static_cast<int32_t>(-99 * i);
      const std::vector<int32_t> before = sums;
      sums_to_floats(sums.data(), adds ? addend.data() : nullptr, n);
      for (int64_t i = 0; i < n; ++i) {
        float y;
        std::memcpy(&y, &sums[i], sizeof y);
        EXPECT_EQ(y, static_cast<float>(before[i] + (adds ? addend[i] : 0)));
      }
      EXPECT_EQ(sums[n], before[n]);
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
        requantize({sums.data(), n, 1, n}, {scale.data(), bias.data(), r, q.data(), n});
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
