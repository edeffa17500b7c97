#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/gemm_tile.h"

namespace assay::kernels::gemm_test {
namespace {

std::vector<double> random_values(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> out(count);
  for (double& x : out) x = uniform(generator);
  return out;
}

/// A matrix stored by rows or by columns, with a gap between lines.
struct Stored {
  std::vector<double> values;
  MatrixView view;
  Stored(int64_t rows, int64_t columns, bool by_columns, unsigned seed)
      : values(random_values(static_cast<size_t>((rows + 3) * (columns + 3)), seed)),
        view{values.data(), by_columns ? 1 : columns + 3, by_columns ? rows + 3 : 1} {}
  double at(int64_t r, int64_t c) const { return view.data[r * view.row_stride + c * view.column_stride]; }
};

void expect_product(int64_t m, int64_t n, int64_t k, bool a_by_columns, bool b_by_columns) {
  const Stored a(m, k, a_by_columns, 1), b(k, n, b_by_columns, 2);
  const int64_t ldc = n + 2;
  std::vector<double> c(static_cast<size_t>(m * ldc), 7.0);
  gemm(m, n, k, a.view, b.view, c.data(), ldc);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      long double sum = 0, magnitude = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += static_cast<long double>(a.at(i, p)) * b.at(p, j);
        magnitude += std::fabs(static_cast<long double>(a.at(i, p)) * b.at(p, j));
      }
      const double bound = static_cast<double>(k + 1) * 0x1p-53 * static_cast<double>(magnitude);
      ASSERT_LE(std::fabs(static_cast<double>(c[static_cast<size_t>(i * ldc + j)] - sum)), bound)
          << m << "x" << n << "x" << k << " at " << i << ", " << j;
    }
    ASSERT_EQ(c[static_cast<size_t>(i * ldc + n)], 7.0) << "wrote beyond the row";
    ASSERT_EQ(c[static_cast<size_t>(i * ldc + n + 1)], 7.0) << "wrote beyond the row";
  }
}

TEST(Gemm, EqualsTheDefinitionAtEveryTail) {
  for (const int64_t m : {1, 2, 3, 5, 8, 9, 17, 65})
    for (const int64_t n : {1, 2, 7, 8, 9, 16, 17, 23, 24, 25, 49, 65})
      for (const int64_t k : {1, 2, 31, 65}) expect_product(m, n, k, false, false);
}

TEST(Gemm, CrossesEveryBlockBoundary) {
  expect_product(131, 491, 259, false, false);
  expect_product(260, 30, 520, false, false);
}

TEST(Gemm, TakesTransposedOperands) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{13, 29, 40}, {1, 70, 33}, {70, 1, 33}, {1, 1, 300}})
    for (const int layout : {1, 2, 3}) expect_product(m, n, k, (layout & 1) != 0, (layout & 2) != 0);
}

TEST(Gemm, NothingToSumGivesZero) {
  std::vector<double> c(6, 3.0);
  gemm(2, 3, 0, nullptr, 0, nullptr, 3, c.data(), 3);
  EXPECT_EQ(c, std::vector<double>(6, 0.0));
}

TEST(Gemm, InfinityReachesItsOwnElementsOnly) {
  std::vector<double> a(9 * 5, 1.0), b(5 * 9, 1.0), c(81);
  b[3 * 9 + 8] = std::numeric_limits<double>::infinity();
  gemm(9, 9, 5, a.data(), 5, b.data(), 9, c.data(), 9);
  for (size_t i = 0; i < 81; ++i) EXPECT_EQ(c[i], i % 9 == 8 ? std::numeric_limits<double>::infinity() : 5.0);
}

TEST(Gemm, IntegersWrap) {
  const std::vector<int32_t> a = {INT32_MAX, 2}, b = {2, 1};
  int32_t c = 0;
  gemm(1, 1, 2, a.data(), 2, b.data(), 1, &c, 1);
  EXPECT_EQ(c, 0);
}

}  // namespace
}  // namespace assay::kernels::gemm_test
