#include "kernels/panel/panel_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include "kernels/convert/convert.h"

namespace assay::kernels::panel_product_test {
namespace {

std::vector<float> numbers(std::mt19937& random, int64_t count) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = uniform(random);
  return v;
}

void round_to(DType type, std::vector<float>& v) {
  if (type == DType::kFloat32) return;
  std::vector<uint16_t> bits(v.size());
  narrow_row(type, v.data(), bits.data(), v.size());
  widen_row(type, bits.data(), v.data(), v.size());
}

struct Case {
  std::vector<float> a, b, bias;
  std::vector<char> packed;
  PanelMatrix matrix;
  int64_t rows, a_stride, stride;

  Case(std::mt19937& random, int64_t r, int64_t n, int64_t k, DType type)
      : matrix{n, k, type}, rows(r), a_stride(k + 3), stride(matrix.panels() * kPanelColumns + 5) {
    a = numbers(random, rows * a_stride);
    b = numbers(random, n * k);
    bias = numbers(random, matrix.panels() * kPanelColumns);
    packed.resize(static_cast<size_t>(matrix.bytes()));
    pack_panels(matrix, b.data(), 1, k, packed.data());  // stored transposed
    round_to(type, b);
  }
  double expected(int64_t r, int64_t c, bool with_bias) const {
    double sum = with_bias ? bias[c] : 0;
    for (int64_t i = 0; i < matrix.k; ++i) sum += double{a[r * a_stride + i]} * b[c * matrix.k + i];
    return sum;
  }
};

TEST(PanelProduct, IsTheProductWithTheStoredMatrix) {
  std::mt19937 random(1);
  for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
    for (const int64_t rows : {1, 2, 3, 5, 6, 7, 11, 12, 13, 25, 30})
      for (const int64_t n : {1, 15, 16, 17, 40, 70, 112})
        for (const int64_t k : {1, 2, 9, 256, 257, 601, 1100}) {
          const Case x(random, rows, n, k, type);
          for (const bool with_bias : {false, true}) {
            std::vector<float> sums(static_cast<size_t>(rows * x.stride), 77);
            panel_product(x.matrix, x.packed.data(), 0, x.matrix.panels(), {x.a.data(), x.a_stride}, rows,
                          with_bias ? x.bias.data() : nullptr, sums.data(), x.stride);
            for (int64_t r = 0; r < rows; ++r) {
              for (int64_t c = 0; c < n; ++c)
                ASSERT_NEAR(sums[r * x.stride + c], x.expected(r, c, with_bias),
                            1e-6 * static_cast<double>(k + 1))
                    << rows << " " << n << " " << k;
              ASSERT_EQ(sums[r * x.stride + x.stride - 1], 77);
            }
          }
        }
}

TEST(PanelProduct, TakesRowsInRuns) {
  std::mt19937 random(6);
  for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
    for (const int64_t run : {4, 8, 16})
      for (const int64_t rows : {1, 5, 6, 12, 31})
        for (const int64_t n : {16, 48, 80})
          for (const int64_t k : {16, 48, 528, 1040}) {
            const Case x(random, rows, n, k, type);
            // Runs of all rows, then the next ones.
            std::vector<float> blocks(static_cast<size_t>(rows * k));
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t i = 0; i < k; ++i)
                blocks[(i / run * rows + r) * run + i % run] = x.a[r * x.a_stride + i];
            std::vector<float> sums(static_cast<size_t>(rows * x.stride)), expected = sums;
            panel_product(x.matrix, x.packed.data(), 0, x.matrix.panels(),
                          {blocks.data(), run, run, rows * run}, rows, x.bias.data(), sums.data(), x.stride);
            panel_product(x.matrix, x.packed.data(), 0, x.matrix.panels(), {x.a.data(), x.a_stride}, rows,
                          x.bias.data(), expected.data(), x.stride);
            ASSERT_EQ(sums, expected) << run << " of " << k << ", " << rows << " rows";
          }
}

/// As many roundings as the parts and their sum are long, not as there are products.
double part_roundings(int64_t k) { return static_cast<double>(part_depth(k) + k / part_depth(k) + 1); }

TEST(PanelProduct, InPartsIsTheProduct) {
  std::mt19937 random(2);
  for (const int64_t rows : {1, 2, 3, 5, 6, 7, 8, 11, 12, 13, 16, 25, 49})
    for (const int64_t k : {1, 8, 15, 16, 17, 40, 64, 65, 128, 300, 1100})
      for (const int64_t n : {8, 16, 40, 64, 112}) {
        const Case x(random, rows, n, k, DType::kFloat32);
        std::vector<float> sums(static_cast<size_t>(rows * x.stride), 77);
        panel_product_in_parts(x.matrix, x.packed.data(), 0, x.matrix.panels(), x.a.data(), x.a_stride, rows,
                               sums.data(), x.stride);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < n; ++c) {
            double size = 0;
            for (int64_t i = 0; i < k; ++i)
              size += std::abs(double{x.a[r * x.a_stride + i]} * x.b[c * k + i]);
            ASSERT_NEAR(sums[r * x.stride + c], x.expected(r, c, false), part_roundings(k) * 0x1p-24 * size)
                << rows << " " << k << " " << n;
          }
          for (int64_t c = x.matrix.panels() * kPanelColumns; c < x.stride; ++c)
            ASSERT_EQ(sums[r * x.stride + c], 77) << "beyond the columns";
        }
      }
}

TEST(PanelProduct, InPartsRoundsLess) {
  // One after the other, a third rounds in the same direction until the sum has doubled.
  constexpr int64_t kDepth = 1 << 14;
  for (const int64_t n : {16, 64}) {
    const PanelMatrix m{n, kDepth, DType::kFloat32};
    const std::vector<float> b(static_cast<size_t>(n * kDepth), 1.0F / 3), a(kDepth, 1);
    std::vector<char> packed(static_cast<size_t>(m.bytes()));
    pack_panels(m, b.data(), n, 1, packed.data());
    std::vector<float> straight(static_cast<size_t>(n)), in_parts = straight;
    panel_product(m, packed.data(), 0, m.panels(), {a.data(), kDepth}, 1, nullptr, straight.data(), n);
    panel_product_in_parts(m, packed.data(), 0, m.panels(), a.data(), kDepth, 1, in_parts.data(), n);
    const double sum = kDepth * double{b[0]};
    for (int64_t c = 0; c < n; ++c) EXPECT_LT(8 * std::abs(in_parts[c] - sum), std::abs(straight[c] - sum));
  }
}

TEST(PanelProduct, IsPackedFromAnyAddress) {
  std::mt19937 random(5);
  for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
    for (const bool transposed : {false, true}) {
      const PanelMatrix m{37, 11, type};
      const std::vector<float> b = numbers(random, m.n * m.k);
      const int64_t row = transposed ? 1 : m.n, column = transposed ? m.k : 1;
      std::vector<char> expected(static_cast<size_t>(m.bytes())), packed = expected, bytes(b.size() * 4 + 8);
      pack_panels(m, b.data(), row, column, expected.data());
      for (const size_t at : {1, 2, 3, 6}) {
        std::memcpy(bytes.data() + at, b.data(), b.size() * 4);
        pack_panels(m, bytes.data() + at, row, column, packed.data());
        EXPECT_EQ(packed, expected) << at;
      }
    }
}

TEST(PanelProduct, StartsAtAPanel) {
  std::mt19937 random(2);
  const Case x(random, 7, 70, 33, DType::kBFloat16);
  std::vector<float> sums(static_cast<size_t>(7 * 32));
  panel_product(x.matrix, x.packed.data(), 1, 2, {x.a.data(), x.a_stride}, 7, x.bias.data() + 16, sums.data(),
                32);
  for (int64_t r = 0; r < 7; ++r)
    for (int64_t c = 0; c < 32; ++c) ASSERT_NEAR(sums[r * 32 + c], x.expected(r, c + 16, true), 1e-4);
}

TEST(PanelProduct, InfinitiesAndNanStayInTheirRowsAndColumns) {
  for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const PanelMatrix m{17, 3, type};
    std::vector<float> b(17 * 3, 1), a(4 * 3, 1), sums(4 * 32);
    a[3] = INFINITY;      // row 1
    b[2 * 17 + 4] = NAN;  // column 4
    std::vector<char> packed(static_cast<size_t>(m.bytes()));
    pack_panels(m, b.data(), 17, 1, packed.data());
    panel_product(m, packed.data(), 0, 2, {a.data(), 3}, 4, nullptr, sums.data(), 32);
    for (int64_t r = 0; r < 4; ++r)
      for (int64_t c = 0; c < 17; ++c) {
        if (c == 4)
          EXPECT_TRUE(std::isnan(sums[r * 32 + c]));
        else
          EXPECT_EQ(sums[r * 32 + c], r == 1 ? INFINITY : 3);
      }
  }
}

TEST(PanelProduct, RowsInBfloat16) {
  if (!multiplies_bfloat16()) GTEST_SKIP() << "this processor does not multiply bfloat16 (AVX-512 BF16)";
  std::mt19937 random(3);
  for (const int64_t rows : {1, 2, 5, 6, 12, 13, 31})
    for (const int64_t k : {1, 2, 9, 512, 513, 1100}) {
      Case x(random, rows, 40, k, DType::kBFloat16);
      round_to(DType::kBFloat16, x.a);
      const int64_t length = k + k % 2;
      std::vector<uint16_t> a(static_cast<size_t>(rows * length), 0);
      for (int64_t r = 0; r < rows; ++r)
        narrow_row(DType::kBFloat16, x.a.data() + r * x.a_stride, a.data() + r * length,
                   static_cast<size_t>(k));
      std::vector<float> sums(static_cast<size_t>(rows * x.stride), 77);
      bfloat16_product(x.matrix, x.packed.data(), 0, 3, a.data(), length, rows, x.bias.data(), sums.data(),
                       x.stride);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < 40; ++c)
          ASSERT_NEAR(sums[r * x.stride + c], x.expected(r, c, true), 1e-6 * static_cast<double>(k + 1));
    }
}

}  // namespace
}  // namespace assay::kernels::panel_product_test
