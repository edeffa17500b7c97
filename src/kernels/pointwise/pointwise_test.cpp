#include "kernels/pointwise/pointwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/pointwise/interpret.h"

namespace assay::kernels::pointwise_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// float32 arguments that cover the range: special values, a fine grid near 0, and powers of ten of both
/// signs.
std::vector<float> arguments() {
  std::vector<float> x = {0.0f, -0.0f, kInf, -kInf, kNan, 1e-40f, 3.4e38f, -3.4e38f};
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) * 0.0051f);
  for (int i = -1200; i <= 1200; ++i) x.push_back(static_cast<float>(i) * 0.0917f);
  for (float p = 1e-37f; p < 1e37f; p *= 3.7f) {
    x.push_back(p);
    x.push_back(-p);
  }
  return x;
}

std::vector<float> apply(PointwiseOp op, std::vector<float> x, float a = 0, float b = 0) {
  std::vector<float> y(x.size());
  const PointwiseInstruction in{.op = op, .args = {0, -1, -1}, .result = 1, .a = a, .b = b};
  float* registers[] = {x.data(), y.data()};
  interpret_tile(std::span(&in, 1), registers, x.size());
  return y;
}

/// Largest error in units of the last place of the true value; 1e9 where infinity or NaN differ.
double worst_ulps(PointwiseOp op, double (*exact)(double), double absolute, float a = 0, float b = 0) {
  const std::vector<float> x = arguments(), y = apply(op, x, a, b);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double t = exact(static_cast<double>(x[i]));
    const float rounded = static_cast<float>(t);
    if (std::isnan(rounded) || std::isnan(y[i])) {
      EXPECT_EQ(std::isnan(rounded), std::isnan(y[i])) << pointwise_name(op) << " at " << x[i];
      continue;
    }
    if (std::isinf(rounded) || std::isinf(y[i])) {
      // At the very edge of the range a last-place error may cross it.
      if (std::abs(t) < 3.4027e38 || std::abs(t) > 3.4030e38) {
        EXPECT_EQ(rounded, y[i]) << pointwise_name(op) << " at " << x[i];
      }
      continue;
    }
    const double ulp = std::max(std::abs(t) * 0x1p-23, absolute);
    const double error = std::abs(static_cast<double>(y[i]) - t) / ulp;
    EXPECT_LT(error, 20) << pointwise_name(op) << " at " << x[i] << ": " << y[i] << " for " << t;
    worst = std::max(worst, error);
  }
  return worst;
}

constexpr double kTiny = 1.2e-38;

TEST(PointwiseMath, IsNearTheTrueValueEverywhere) {
  EXPECT_LT(worst_ulps(
                PointwiseOp::kExp, [](double x) { return std::exp(x); }, kTiny),
            2);
  EXPECT_LT(worst_ulps(
                PointwiseOp::kLog, [](double x) { return std::log(x); }, 1e-9),
            2);
  EXPECT_LT(worst_ulps(
                PointwiseOp::kTanh, [](double x) { return std::tanh(x); }, kTiny),
            2);
  EXPECT_LT(worst_ulps(
                PointwiseOp::kErf, [](double x) { return std::erf(x); }, kTiny),
            2);
  EXPECT_LT(worst_ulps(
                PointwiseOp::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, kTiny),
            3);
  EXPECT_LT(worst_ulps(
                PointwiseOp::kSoftplus,
                [](double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }, kTiny),
            4);
  EXPECT_LT(worst_ulps(
                PointwiseOp::kSqrt, [](double x) { return std::sqrt(x); }, kTiny),
            1);
}

TEST(PointwiseMath, ActivationsKeepAbsoluteAccuracyWhereTermsCancel) {
  const auto gelu = [](double x) {
    return std::isinf(x) && x < 0 ? NAN : 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  };
  // For x < 0 the factor 1 + erf cancels: the error is that of float32 in 1, times x / 2.
  const std::vector<float> x = arguments(), y = apply(PointwiseOp::kGelu, x),
                           z = apply(PointwiseOp::kGeluTanh, x), s = apply(PointwiseOp::kSilu, x),
                           e = apply(PointwiseOp::kElu, x, 1.5f);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || std::abs(x[i]) > 1e18f) continue;
    const double v = x[i];
    EXPECT_NEAR(y[i], gelu(v), 3e-7 * std::max(std::abs(v), 1e-30)) << v;
    const double t = 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    if (std::abs(v) < 1e12) {
      EXPECT_NEAR(z[i], t, 3e-7 * std::max(std::abs(v), 1e-30)) << v;
    }
    EXPECT_NEAR(s[i], v / (1 + std::exp(-v)), 4e-7 * std::abs(v / (1 + std::exp(-v))) + 2e-36) << v;
    EXPECT_NEAR(e[i], v < 0 ? 1.5 * std::expm1(v) : v,
                5e-7 * std::abs(v < 0 ? 1.5 * std::expm1(v) : v) + 1e-44)
        << v;
  }
}

TEST(PointwiseMath, SelectionsKeepNan) {
  const auto relu = apply(PointwiseOp::kRelu, {kNan, -1, 2, -kInf, kInf});
  EXPECT_TRUE(std::isnan(relu[0]));
  EXPECT_EQ(relu[1], 0);
  EXPECT_EQ(relu[2], 2);
  EXPECT_EQ(relu[3], 0);
  EXPECT_EQ(relu[4], kInf);
  const auto clip = apply(PointwiseOp::kClip, {kNan, -9, 9, 0.5f}, -1, 1);
  EXPECT_TRUE(std::isnan(clip[0]));
  EXPECT_EQ(clip[1], -1);
  EXPECT_EQ(clip[2], 1);
  EXPECT_EQ(clip[3], 0.5f);
}

TEST(PointwiseProgram, SharesRegistersOfDeadTemporaries) {
  PointwiseProgram p(1);
  int r = 0;
  for (int i = 0; i < 50; ++i) r = p.append(PointwiseOp::kNeg, {r, -1, -1});
  p.append(PointwiseOp::kExp, {0, -1, -1});  // nothing needs it
  p.add_result(r);
  p.allocate_registers();
  EXPECT_EQ(p.code().size(), 50u);
  EXPECT_LE(p.registers(), 3);
}

TEST(PointwiseProgram, NamesAreFoundAgain) {
  EXPECT_EQ(find_pointwise("HardSwish"), PointwiseOp::kHardSwish);
  EXPECT_EQ(pointwise_name(PointwiseOp::kAdd), "Add");
  EXPECT_EQ(pointwise_arity(PointwiseOp::kSelect), 3);
  EXPECT_FALSE(find_pointwise("Conv"));
}

struct Case {
  Shape domain;
  std::vector<std::vector<int64_t>> strides;
};

/// (x * y) - z over the domain against a plain loop over indices.
void check_broadcast(const Case& c) {
  std::mt19937 random(7);
  std::vector<std::vector<float>> data;
  for (const auto& strides : c.strides) {
    int64_t size = 1;
    for (size_t d = 0; d < c.domain.size(); ++d) size += (c.domain[d] - 1) * strides[d];
    data.emplace_back();
    for (int64_t i = 0; i < size; ++i) data.back().push_back(static_cast<float>(random() % 1000) / 64 - 5);
  }
  PointwiseProgram p(3);
  const int product = p.append(PointwiseOp::kMul, {0, 1, -1});
  p.add_result(p.append(PointwiseOp::kSub, {product, 2, -1}));
  std::vector<PointwiseOperand> operands;
  for (const auto& s : c.strides) operands.push_back({PointwiseType::kFloat32, s});
  const PointwiseLoop loop(p, c.domain, operands, {PointwiseType::kFloat32});
  const int64_t count = c.domain.numel();
  std::vector<float> y(static_cast<size_t>(count) + 1, -77);
  const void* in[] = {data[0].data(), data[1].data(), data[2].data()};
  void* out[] = {y.data()};
  loop.run(in, out);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at[3] = {0, 0, 0};
    for (size_t d = c.domain.size(); d-- > 0; rest /= c.domain[d])
      for (int o = 0; o < 3; ++o) at[o] += rest % c.domain[d] * c.strides[o][d];
    ASSERT_EQ(y[i], data[0][at[0]] * data[1][at[1]] - data[2][at[2]]) << c.domain.str() << " element " << i;
  }
  EXPECT_EQ(y.back(), -77) << c.domain.str();
}

TEST(PointwiseLoop, BroadcastsLikeAPlainLoop) {
  check_broadcast({{}, {{}, {}, {}}});
  check_broadcast({{1}, {{1}, {0}, {1}}});
  check_broadcast({{5000}, {{1}, {0}, {1}}});
  check_broadcast({{7, 33}, {{33, 1}, {0, 1}, {1, 0}}});
  check_broadcast({{1500, 3}, {{3, 1}, {0, 1}, {1, 0}}});
  check_broadcast({{3, 2100}, {{2100, 1}, {0, 1}, {1, 0}}});
  check_broadcast({{2, 3, 50, 16}, {{2400, 800, 16, 1}, {48, 16, 0, 1}, {0, 16, 0, 1}}});
  check_broadcast({{4, 5, 6}, {{1, 24, 4}, {30, 6, 1}, {0, 0, 2}}});
  check_broadcast({{2, 1, 8, 1, 9}, {{72, 72, 9, 9, 1}, {0, 0, 1, 0, 0}, {9, 0, 0, 0, 1}}});
  check_broadcast({{300, 40, 2}, {{80, 2, 1}, {0, 2, 1}, {2, 0, 1}}});
}

TEST(PointwiseLoop, AnEmptyDomainWritesNothing) {
  for (const Shape& domain : {Shape{0}, Shape{3, 0}, Shape{0, 4}}) {
    PointwiseProgram p(1);
    p.add_result(p.append(PointwiseOp::kNeg, {0, -1, -1}));
    const PointwiseLoop loop(p, domain, {{PointwiseType::kFloat32, domain.strides()}},
                             {PointwiseType::kFloat32});
    float untouched = 3;
    const void* in[] = {&untouched};
    void* out[] = {&untouched};
    loop.run(in, out);
    EXPECT_EQ(untouched, 3);
  }
}

TEST(PointwiseLoop, ConvertsIntegersAndWritesTruth) {
  PointwiseProgram p(3);
  const int less = p.append(PointwiseOp::kLess, {0, 1, -1});
  p.add_result(less);
  p.add_result(p.append(PointwiseOp::kSelect, {2, 0, 1}));
  const PointwiseLoop loop(
      p, {4}, {{PointwiseType::kInt64, {1}}, {PointwiseType::kInt32, {1}}, {PointwiseType::kBool, {1}}},
      {PointwiseType::kBool, PointwiseType::kFloat32});
  const int64_t x[] = {1, 5, -7, 1 << 20};
  const int32_t y[] = {2, 5, -9, 3};
  const bool z[] = {true, false, true, false};
  bool less_out[4];
  float selected[4];
  const void* in[] = {x, y, z};
  void* out[] = {less_out, selected};
  loop.run(in, out);
  EXPECT_EQ(std::vector<bool>(less_out, less_out + 4), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(std::vector<float>(selected, selected + 4), (std::vector<float>{1, 5, -7, 3}));
}

TEST(PointwiseLoop, MayWriteOverItsOperand) {
  std::vector<float> x(3000), y(3000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = static_cast<float>(i % 7);
  PointwiseProgram p(2);
  const int a = p.append(PointwiseOp::kAdd, {0, 1, -1});
  const int b = p.append(PointwiseOp::kMul, {0, a, -1});
  p.add_result(p.append(PointwiseOp::kSub, {b, 0, -1}));
  const PointwiseLoop loop(p, {3000}, {{PointwiseType::kFloat32, {1}}, {PointwiseType::kFloat32, {1}}},
                           {PointwiseType::kFloat32});
  const void* in[] = {x.data(), y.data()};
  void* out[] = {x.data()};
  loop.run(in, out);
  for (size_t i = 0; i < x.size(); ++i) {
    const float v = static_cast<float>(i);
    ASSERT_EQ(x[i], v * (v + y[i]) - v);
  }
}

}  // namespace
}  // namespace assay::kernels::pointwise_test
