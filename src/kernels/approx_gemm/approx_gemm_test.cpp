#include "kernels/approx_gemm/approx_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay::kernels::approx_gemm_test {
namespace {

std::vector<double> numbers(std::mt19937& random, int64_t count, double size = 1) {
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<double> v(static_cast<size_t>(count));
  for (double& x : v) x = uniform(random);
  return v;
}

std::vector<double> magnitudes(std::vector<double> v) {
  for (double& x : v) x = std::abs(x);
  return v;
}

MatrixView view(const std::vector<double>& v, int64_t columns, bool transposed, int64_t rows) {
  return transposed ? MatrixView{v.data(), 1, rows} : MatrixView{v.data(), columns, 1};
}

TEST(ApproxGemm, OfMatricesIsTheProductToSixDigits) {
  std::mt19937 random(1);
  for (const int64_t m : {1, 3, 13, 40})
    for (const int64_t n : {1, 15, 17, 200})
      for (const int64_t k : {1, 9, 300})
        for (const int transposed : {0, 1, 2, 3})
          for (const double size : {1e-44, 1.0, 1e30}) {
            const auto a = numbers(random, m * k, size), b = numbers(random, k * n, size);
            const auto plus_a = magnitudes(a), plus_b = magnitudes(b);
            const bool ta = (transposed & 1) != 0, tb = (transposed & 2) != 0;
            std::vector<double> exact(static_cast<size_t>(m * n)), most(exact), rough(exact),
                approx_max(exact);
            gemm(m, n, k, view(a, k, ta, m), view(b, n, tb, k), exact.data(), n);
            gemm(m, n, k, view(plus_a, k, ta, m), view(plus_b, n, tb, k), most.data(), n);
            ASSERT_TRUE(approx_gemm(ApproxOf::kValues, m, n, k, view(a, k, ta, m), view(b, n, tb, k),
                                    rough.data(), n));
            ASSERT_TRUE(approx_gemm(ApproxOf::kMagnitudes, m, n, k, view(a, k, ta, m), view(b, n, tb, k),
                                    approx_max.data(), n));
            const double u = static_cast<double>(k + 4) * 0x1p-24;
            for (size_t i = 0; i < exact.size(); ++i) {
              ASSERT_NEAR(rough[i] / size / size, exact[i] / size / size, u * most[i] / size / size);
              ASSERT_NEAR(approx_max[i] / most[i], 1, u);
            }
          }
}

TEST(ApproxGemm, OfWindowsIsTheConvolution) {
  std::mt19937 random(2);
  for (const int64_t groups : {1, 2})
    for (const int64_t extent : {1, 5, 23})
      for (const int64_t stride : {1, 2}) {
        const bool one_tap = extent == 5;
        Window w{.in = {extent, extent + 2},
                 .out = {},
                 .kernel = {3, 2},
                 .strides = {stride, 1},
                 .dilations = {1, 2},
                 .begin = {1, 1},
                 .end = {1, 1}};
        if (one_tap) w.kernel = {1, 1}, w.begin = w.end = {0, 0};
        for (size_t d = 0; d < 2; ++d)
          w.out.push_back((w.in[d] + w.begin[d] + w.end[d] - w.reach(d)) / w.strides[d] + 1);
        const ConvSize size{.batch = 3, .groups = groups, .in_channels = 4, .out_channels = 6};
        const auto x = numbers(random, 12 * w.in_size(), 1e-20),
                   k = numbers(random, 6 * 4 / groups * w.taps(), 1e10);
        const auto count = static_cast<size_t>(18 * w.out_size());
        std::vector<double> exact(count), most(count), rough(count), approx_max(count);
        convolve(size, w, x.data(), k.data(), nullptr, exact.data());
        convolve(size, w, magnitudes(x).data(), magnitudes(k).data(), nullptr, most.data());
        ASSERT_TRUE(approx_convolve(ApproxOf::kValues, size, w, x.data(), k.data(), rough.data()));
        ASSERT_TRUE(approx_convolve(ApproxOf::kMagnitudes, size, w, x.data(), k.data(), approx_max.data()));
        for (size_t i = 0; i < count; ++i) {
          ASSERT_LE(std::abs(rough[i] - exact[i]), 30 * 0x1p-24 * most[i]);
          ASSERT_LE(std::abs(approx_max[i] - most[i]), 30 * 0x1p-24 * most[i]);
        }
      }
}

TEST(ApproxGemm, RefusesWhatFloat32HasNoRangeFor) {
  double c[1] = {7};
  const double one[2] = {1, 1}, wide[2] = {1, 0x1p-61}, near[2] = {1, 0x1p-59}, zeros[2] = {0, 0},
               infinite[2] = {1, HUGE_VAL}, none[2] = {std::nan(""), 1};
  const auto multiply = [&](const double* a, const double* b) {
    return approx_gemm(ApproxOf::kValues, 1, 1, 2, {a, 2, 1}, {b, 1, 1}, c, 1);
  };
  for (const double* bad : {wide, infinite, none}) {
    EXPECT_FALSE(multiply(one, bad));
    EXPECT_FALSE(multiply(bad, one));
    EXPECT_EQ(c[0], 7);
  }
  EXPECT_TRUE(multiply(one, near));
  EXPECT_EQ(c[0], 1 + 0x1p-59);
  EXPECT_TRUE(multiply(near, zeros));
  EXPECT_EQ(c[0], 0);
}

}  // namespace
}  // namespace assay::kernels::approx_gemm_test
