#include "kernels/panel/row_epilogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace assay::kernels::row_epilogue_test {
namespace {

TEST(EpilogueParameters, AddsAndBoundsAndKeepsNan) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const int64_t columns : {1, 7, 8, 19})
    for (const bool adds : {false, true})
      for (const auto& [low, high] : {std::pair(0.0F, inf), std::pair(-1.0F, 2.0F), std::pair(-inf, inf)}) {
        std::vector<float> x(static_cast<size_t>(3 * 20)), addend(static_cast<size_t>(3 * 21)), y(3 * 22, 99);
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 9) - 4;
        for (size_t i = 0; i < addend.size(); ++i) addend[i] = static_cast<float>(i % 5) * 0.5F;
        x[0] = NAN;
        x[20] = inf;
        x[40] = -inf;
        row_epilogue({low, high}, 3, columns, x.data(), 20, {adds ? addend.data() : nullptr, 21}, y.data(),
                     22);
        for (int64_t r = 0; r < 3; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const float sum = x[r * 20 + c] + (adds ? addend[r * 21 + c] : 0);
            if (std::isnan(sum))
              EXPECT_TRUE(std::isnan(y[r * 22 + c]));
            else
              EXPECT_EQ(y[r * 22 + c], std::min(std::max(sum, low), high));
          }
          EXPECT_EQ(y[r * 22 + columns], 99);
        }
      }
}

/// numbers[i] = (i modulo `period`) * factor + shift
std::vector<float> repeating(int64_t count, int64_t period, float factor, float shift) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    numbers[static_cast<size_t>(i)] = static_cast<float>(i % period) * factor + shift;
  return numbers;
}

/// Which factors and shifts follow the function: none, each column's, or one for all.
struct Scaling {
  bool has_factors, has_shifts;
  float scale = 1, shift = -0.0F;
};
constexpr Scaling kScalings[] = {{false, false}, {true, false},         {false, true},
                                 {true, true},   {false, false, -2, 3}, {false, false, -2}};

enum class Addend : uint8_t { kNone, kFirst, kLast };

/// What row_epilogue() should make of column `c` of a row.
float scaled(float x, float addend, size_t c, PointwiseOp function, Addend adds,
             const EpilogueParameters& finish, const EpilogueOperands& operands) {
  const float sum = adds == Addend::kFirst ? x + addend : x;
  const float y = function == PointwiseOp::kClip ? std::clamp(sum, -1.0F, 2.0F) : std::abs(sum);
  return y * (operands.factors != nullptr ? operands.factors[c] : finish.scale) +
         (operands.shifts != nullptr ? operands.shifts[c] : finish.shift) +
         (adds == Addend::kLast ? addend : 0);
}

void check_scaling(int64_t columns, PointwiseOp function, const Scaling& scaling, Addend adds) {
  constexpr int64_t kRows = 5;
  const std::vector<float> x = repeating(kRows * columns, 9, 1, -4),
                           addend = repeating(kRows * columns, 5, 0.5F, 0),
                           factors = repeating(columns, 4, 1, -1.5F),
                           shifts = repeating(columns, 3, 0.25F, 0);
  std::vector<float> y(x.size() + 1, 99);
  const EpilogueParameters finish{-1, 2, function, adds == Addend::kLast, scaling.scale, scaling.shift};
  const EpilogueOperands operands{adds == Addend::kNone ? nullptr : addend.data(), columns,
                                  scaling.has_factors ? factors.data() : nullptr,
                                  scaling.has_shifts ? shifts.data() : nullptr};
  row_epilogue(finish, kRows, columns, x.data(), columns, operands, y.data(), columns);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], scaled(x[i], addend[i], i % factors.size(), function, adds, finish, operands))
        << columns << " columns, scaling " << &scaling - kScalings << ", addend " << static_cast<int>(adds)
        << ", " << i;
  EXPECT_EQ(y[x.size()], 99);
}

/// Each column's factor and shift, or one for all, with each addend, in rows of any length.
TEST(EpilogueParameters, ScalesAndShifts) {
  for (const int64_t columns : {1, 7, 8, 16, 19, 70})
    for (const PointwiseOp function : {PointwiseOp::kClip, PointwiseOp::kLeakyRelu})
      for (const Scaling& scaling : kScalings)
        for (const Addend adds : {Addend::kNone, Addend::kFirst, Addend::kLast})
          check_scaling(columns, function, scaling, adds);
  // What only multiplies keeps the sign of a zero.
  const float zero = -0.0F;
  float y = 1;
  row_epilogue({-1, 1, PointwiseOp::kClip, false, 2}, 1, 1, &zero, 1, {}, &y, 1);
  EXPECT_TRUE(std::signbit(y));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Every function over the whole range, with the addend before and behind it, for rows of any length and in
/// place.
TEST(EpilogueParameters, IsTheFunctionOfTheSum) {
  const float inf = std::numeric_limits<float>::infinity();
  const struct {
    EpilogueParameters rows;
    double (*function)(double);
    double slack;  // of results, where the function adds numbers that cancel
  } functions[] = {
      // Below 0 both formulas subtract numbers that cancel.
      {{0, 0, PointwiseOp::kGelu}, [](double x) { return x / 2 * (1 + std::erf(x * std::sqrt(0.5))); }, 3e-7},
      {{0, 0, PointwiseOp::kGeluTanh},
       [](double x) {
         return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
       },
       3e-7},
      {{0.2F, 0, PointwiseOp::kLeakyRelu}, [](double x) { return x < 0 ? x * 0.2F : x; }, 1e-45},
      {{0.25F, 0.5F, PointwiseOp::kHardSigmoid},
       [](double x) { return std::clamp(0.25 * x + 0.5, 0.0, 1.0); },
       1e-7},
      {{0, 0, PointwiseOp::kHardSwish}, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }, 3e-7},
      // 0 where the sigmoid is subnormal: from -87.34 on.
      {{0, 0, PointwiseOp::kSigmoid}, sigmoid, 0x1p-126},
      {{0, 0, PointwiseOp::kSilu}, [](double x) { return x * sigmoid(x); }, 88 * 0x1p-126},
  };
  std::vector<float> x;
  for (double v = 1e-38; v < 1e38; v *= 1.37)
    x.insert(x.end(), {static_cast<float>(v), -static_cast<float>(v)});
  for (float v = -110; v < 110; v += 0.37F) x.push_back(v);
  x.insert(x.end(), {0.0F, -0.0F, inf, NAN, 1e-45F});
  std::vector<float> addend(x.size());
  for (size_t i = 0; i < x.size(); ++i) addend[i] = static_cast<float>(i % 7) * 0.25F - 0.5F;
  const auto n = static_cast<int64_t>(x.size());
  for (const auto& [rows, function, slack] : functions)
    for (const int64_t columns : {n, int64_t{1}, int64_t{8}, int64_t{13}, int64_t{16}, int64_t{32}})
      for (const int adds : {0, 1, 2}) {
        EpilogueParameters finish = rows;
        finish.adds_last = adds == 2;
        std::vector<float> y = x;
        row_epilogue(finish, n / columns, columns, y.data(), columns,
                     {adds == 0 ? nullptr : addend.data(), columns}, y.data(), columns);
        for (int64_t i = 0; i < n; ++i) {
          if (i >= n / columns * columns) {
            EXPECT_TRUE(y[i] == x[i] || std::isnan(x[i])) << "what follows was touched";
            continue;
          }
          const double added = addend[i];
          const double sum = adds == 1 ? x[i] + addend[i] : x[i];
          const double expected = function(sum) + (adds == 2 ? added : 0);
          if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(y[i])) << x[i];
          else if (std::isinf(expected))
            EXPECT_EQ(y[i], expected);
          else
            EXPECT_NEAR(y[i], expected, 3e-7 * std::abs(expected) + slack + 4e-7 * (adds == 2) + 2e-43)
                << x[i];
        }
      }
}

}  // namespace
}  // namespace assay::kernels::row_epilogue_test
