#include "kernels/normalize/normalize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::kernels::normalize_test {
namespace {

std::vector<float> random_values(size_t n, uint32_t seed, float offset) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(offset, 1.5f);
  std::vector<float> v(n);
  for (float& x : v) x = normal(random);
  return v;
}

void check(const Normalization& n, bool with_scale, bool with_shift, bool with_addend) {
  const size_t size = static_cast<size_t>(n.rows * n.columns);
  const size_t parameters = static_cast<size_t>(n.per == Normalization::Per::kRow ? n.period : n.columns);
  const std::vector<float> x = random_values(size, 1, 4), a = random_values(size, 2, -1),
                           scale = random_values(parameters, 3, 1), shift = random_values(parameters, 4, 0);
  std::vector<float> y(size), sum(size);
  normalize_rows(n, x.data(), with_addend ? a.data() : nullptr, with_scale ? scale.data() : nullptr,
                 with_shift ? shift.data() : nullptr, y.data(), with_addend ? sum.data() : nullptr);
  for (int64_t r = 0; r < n.rows; ++r) {
    std::vector<double> row(static_cast<size_t>(n.columns));
    double mean = 0, square = 0;
    for (int64_t c = 0; c < n.columns; ++c) {
      const size_t at = static_cast<size_t>(r * n.columns + c);
      row[c] = with_addend ? static_cast<double>(x[at] + a[at]) : x[at];
      if (with_addend) {
        ASSERT_EQ(sum[at], x[at] + a[at]);
      }
      mean += row[c] / static_cast<double>(n.columns);
    }
    if (!n.subtract_mean) mean = 0;
    for (const double v : row) square += (v - mean) * (v - mean) / static_cast<double>(n.columns);
    for (int64_t c = 0; c < n.columns; ++c) {
      const int64_t p = n.per == Normalization::Per::kRow ? r % n.period : c;
      const double t = (row[c] - mean) / std::sqrt(square + n.epsilon) * (with_scale ? scale[p] : 1) +
                       (with_shift ? shift[p] : 0);
      ASSERT_NEAR(y[r * n.columns + c], t, 3e-6 * (1 + std::abs(t))) << "row " << r << " column " << c;
    }
  }
}

TEST(Normalize, MatchesTheFormula) {
  for (const int64_t columns : {1, 3, 16, 17, 64, 100, 768})
    for (const bool mean : {true, false})
      for (const bool per_row : {true, false})
        for (int parts = 0; parts < 8; ++parts) {
          Normalization n{.rows = 5, .columns = columns, .epsilon = 1e-5f, .subtract_mean = mean};
          if (per_row) n.per = Normalization::Per::kRow, n.period = 2;
          check(n, parts & 1, parts & 2, parts & 4);
        }
}

TEST(Normalize, ALargeMeanDoesNotSpoilTheVariance) {
  std::vector<float> x(256), y(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 10000.0f + (i % 2 == 0 ? 1.0f : -1.0f);
  normalize_rows({.rows = 1, .columns = 256, .epsilon = 0}, x.data(), nullptr, nullptr, nullptr, y.data(),
                 nullptr);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], i % 2 == 0 ? 1 : -1, 1e-6);
}

}  // namespace
}  // namespace assay::kernels::normalize_test
