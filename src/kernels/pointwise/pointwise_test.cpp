#include "kernels/pointwise/pointwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "assay/error.h"
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
  void* registers[] = {x.data(), y.data()};
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
  for (const auto& s : c.strides) operands.push_back({DType::kFloat32, s});
  const PointwiseLoop loop(p, c.domain, operands, {DType::kFloat32});
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
  for (const int64_t columns : {4, 14, 32})  // rows that are repeated, and rows of one number, in pieces
    check_broadcast({{150, columns}, {{columns, 1}, {0, 1}, {1, 0}}});
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
    const PointwiseLoop loop(p, domain, {{DType::kFloat32, domain.strides()}}, {DType::kFloat32});
    float untouched = 3;
    const void* in[] = {&untouched};
    void* out[] = {&untouched};
    loop.run(in, out);
    EXPECT_EQ(untouched, 3);
  }
}

TEST(PointwiseLoop, ConvertsIntegersAndWritesTruth) {
  PointwiseProgram p({DType::kInt64, DType::kInt32, DType::kBool});
  const int x_float = p.append(PointwiseOp::kToFloat32, {0, -1, -1});
  const int y_float = p.append(PointwiseOp::kToFloat32, {1, -1, -1});
  p.add_result(p.append(PointwiseOp::kLess, {x_float, y_float, -1}));
  p.add_result(p.append(PointwiseOp::kSelect, {2, x_float, y_float}));
  const PointwiseLoop loop(p, {4}, {{DType::kInt64, {1}}, {DType::kInt32, {1}}, {DType::kBool, {1}}},
                           {DType::kBool, DType::kFloat32});
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

template <typename T>
constexpr DType kTypeOf = std::is_same_v<T, double>     ? DType::kFloat64
                          : std::is_same_v<T, float>    ? DType::kFloat32
                          : std::is_same_v<T, int64_t>  ? DType::kInt64
                          : std::is_same_v<T, int32_t>  ? DType::kInt32
                          : std::is_same_v<T, int16_t>  ? DType::kInt16
                          : std::is_same_v<T, int8_t>   ? DType::kInt8
                          : std::is_same_v<T, uint64_t> ? DType::kUInt64
                          : std::is_same_v<T, uint32_t> ? DType::kUInt32
                          : std::is_same_v<T, uint16_t> ? DType::kUInt16
                                                        : DType::kUInt8;
/// Calls check with a number of every integer type.
template <typename Fn>
void for_each_integer(Fn check) {
  check(int8_t{}), check(uint8_t{}), check(int16_t{}), check(uint16_t{});
  check(int32_t{}), check(uint32_t{}), check(int64_t{}), check(uint64_t{});
}

/// Numbers of a type, its extremes among them.
template <typename T>
std::vector<T> numbers_of(unsigned seed) {
  std::mt19937_64 random(seed);
  using L = std::numeric_limits<T>;
  std::vector<T> x = {T(0), T(1), static_cast<T>(-1), L::lowest(), L::max(), T(7), static_cast<T>(-7)};
  for (int i = 0; i < 1500; ++i)
    x.push_back(std::is_integral_v<T>
                    ? static_cast<T>(random())
                    : static_cast<T>(std::ldexp(static_cast<double>(random() % 2001) - 1000, -3)));
  std::shuffle(x.begin(), x.end(), random);
  return x;
}

/// One instruction on a whole domain and on strided and repeated operands, against `exact` element by
/// element.
template <typename T, typename Y, typename Fn>
void check_typed(PointwiseOp op, Fn exact, bool divides = false) {
  const std::vector<T> x = numbers_of<T>(1);
  std::vector<T> y = numbers_of<T>(2);
  if (divides) std::replace(y.begin(), y.end(), T(0), T(3));
  const int arity = pointwise_arity(op);
  for (const bool repeats : {false, true}) {
    PointwiseProgram p(std::vector<DType>(static_cast<size_t>(arity), kTypeOf<T>));
    const int result = p.append(op, {0, arity > 1 ? 1 : -1, -1});
    p.add_result(result);
    const auto n = static_cast<int64_t>(x.size());
    std::vector<PointwiseOperand> operands = {{kTypeOf<T>, {1}}, {kTypeOf<T>, {repeats ? 0 : 1}}};
    operands.resize(static_cast<size_t>(arity));
    const DType stored = p.type(result) == DType::kBool ? DType::kBool : kTypeOf<Y>;
    const PointwiseLoop loop(p, {n}, operands, {stored});
    std::vector<Y> out(x.size());
    const void* in[] = {x.data(), y.data()};
    void* to[] = {out.data()};
    loop.run(std::span(in, static_cast<size_t>(arity)), to);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(out[i], static_cast<Y>(exact(x[i], y[repeats ? 0 : i])))
          << pointwise_name(op) << "(" << +x[i] << ", " << +y[repeats ? 0 : i] << ")";
  }
}

template <typename T>
void check_arithmetic() {
  using U = typename std::conditional_t<
      !std::is_integral_v<T>, std::type_identity<T>,
      std::conditional_t<sizeof(T) < 4, std::type_identity<unsigned>, std::make_unsigned<T>>>::type;
  const auto u = [](T x) { return static_cast<U>(x); };
  check_typed<T, T>(PointwiseOp::kAdd, [&](T x, T y) { return static_cast<T>(u(x) + u(y)); });
  check_typed<T, T>(PointwiseOp::kSub, [&](T x, T y) { return static_cast<T>(u(x) - u(y)); });
  check_typed<T, T>(PointwiseOp::kMul, [&](T x, T y) { return static_cast<T>(u(x) * u(y)); });
  check_typed<T, T>(PointwiseOp::kMax, [](T x, T y) { return std::max(x, y); });
  check_typed<T, T>(PointwiseOp::kMin, [](T x, T y) { return std::min(x, y); });
  check_typed<T, T>(PointwiseOp::kNeg, [&](T x, T) { return static_cast<T>(U(0) - u(x)); });
  check_typed<T, T>(PointwiseOp::kAbs, [&](T x, T) { return x < 0 ? static_cast<T>(U(0) - u(x)) : x; });
  check_typed<T, T>(PointwiseOp::kRelu, [](T x, T) { return x < 0 ? T(0) : x; });
  check_typed<T, T>(PointwiseOp::kSign, [](T x, T) { return (x > 0) - (x < 0); });
  check_typed<T, T>(PointwiseOp::kSquare, [&](T x, T) { return static_cast<T>(u(x) * u(x)); });
  check_typed<T, uint8_t>(PointwiseOp::kEqual, [](T x, T y) { return x == y; });
  check_typed<T, uint8_t>(PointwiseOp::kLess, [](T x, T y) { return x < y; });
  check_typed<T, uint8_t>(PointwiseOp::kGreaterOrEqual, [](T x, T y) { return x >= y; });
  check_typed<T, uint8_t>(PointwiseOp::kToBool, [](T x, T) { return x != 0; });
  check_typed<T, float>(PointwiseOp::kToFloat32, [](T x, T) { return static_cast<float>(x); });
  check_typed<T, double>(PointwiseOp::kToFloat64, [](T x, T) { return static_cast<double>(x); });
  check_typed<T, T>(
      PointwiseOp::kDiv,
      [&](T x, T y) {
        if constexpr (std::is_integral_v<T>)
          if (std::is_signed_v<T> && y == static_cast<T>(-1)) return static_cast<T>(U(0) - u(x));
        return static_cast<T>(x / y);
      },
      true);
}

TEST(PointwiseTypes, ArithmeticIsThatOfEachTypeAndWraps) {
  for_each_integer([]<typename T>(T) { check_arithmetic<T>(); });
  check_arithmetic<double>();
}

template <typename T>
void check_integers() {
  const auto remainder = [](T x, T y) {
    return std::is_signed_v<T> && y == static_cast<T>(-1) ? T(0) : static_cast<T>(x % y);
  };
  check_typed<T, T>(PointwiseOp::kTruncMod, remainder, true);
  check_typed<T, T>(
      PointwiseOp::kFloorMod,
      [&](T x, T y) {
        const T r = remainder(x, y);
        return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
      },
      true);
  check_typed<T, T>(PointwiseOp::kBitAnd, [](T x, T y) { return x & y; });
  check_typed<T, T>(PointwiseOp::kBitXor, [](T x, T y) { return x ^ y; });
  check_typed<T, T>(PointwiseOp::kBitNot, [](T x, T) { return ~x; });
  check_typed<T, int32_t>(PointwiseOp::kToInt32, [](T x, T) { return static_cast<int32_t>(x); });
  check_typed<T, int64_t>(PointwiseOp::kToInt64, [](T x, T) { return static_cast<int64_t>(x); });
  check_typed<T, int8_t>(PointwiseOp::kToInt8, [](T x, T) { return static_cast<int8_t>(x); });
  check_typed<T, uint8_t>(PointwiseOp::kToUint8, [](T x, T) { return static_cast<uint8_t>(x); });
  check_typed<T, int16_t>(PointwiseOp::kToInt16, [](T x, T) { return static_cast<int16_t>(x); });
  check_typed<T, uint16_t>(PointwiseOp::kToUint16, [](T x, T) { return static_cast<uint16_t>(x); });
  check_typed<T, uint32_t>(PointwiseOp::kToUint32, [](T x, T) { return static_cast<uint32_t>(x); });
  check_typed<T, uint64_t>(PointwiseOp::kToUint64, [](T x, T) { return static_cast<uint64_t>(x); });
  check_typed<T, T>(PointwiseOp::kShiftLeft, [](T x, T y) {
    return y < 0 || y >= static_cast<T>(8 * sizeof(T)) ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << y);
  });
  check_typed<T, T>(PointwiseOp::kShiftRight, [](T x, T y) {
    if (y < 0 || y >= static_cast<T>(8 * sizeof(T))) return x < 0 ? static_cast<T>(-1) : T(0);
    return static_cast<T>(x >> y);
  });
}

TEST(PointwiseTypes, IntegersHaveRemaindersAndBits) {
  for_each_integer([]<typename T>(T) { check_integers<T>(); });
}

/// A plan may hold any program: a divisor of 0 is no crash.
TEST(PointwiseTypes, AnIntegerDividedByZeroIsZero) {
  for (const PointwiseOp op : {PointwiseOp::kDiv, PointwiseOp::kTruncMod, PointwiseOp::kFloorMod}) {
    check_typed<int32_t, int32_t>(op, [&](int32_t x, int32_t y) -> int32_t {
      if (y == 0) return 0;
      if (y == -1) return op == PointwiseOp::kDiv ? static_cast<int32_t>(0U - static_cast<uint32_t>(x)) : 0;
      const int32_t r = x % y;
      if (op == PointwiseOp::kDiv) return x / y;
      return op == PointwiseOp::kFloorMod && r != 0 && (r < 0) != (y < 0) ? r + y : r;
    });
  }
}

TEST(PointwiseTypes, FloatsBecomeIntegersTowardsZeroAndSaturateAtTheLeast) {
  const std::vector<float> x = {1.9F, -1.9F, 3e9F, -3e9F, kNan, kInf, 2147483520.0F};
  std::vector<int32_t> y(x.size());
  std::vector<int64_t> z(x.size());
  for (const auto& [op, type, out] :
       {std::tuple{PointwiseOp::kToInt32, DType::kInt32, static_cast<void*>(y.data())},
        {PointwiseOp::kToInt64, DType::kInt64, static_cast<void*>(z.data())}}) {
    PointwiseProgram p(1);
    p.add_result(p.append(op, {0, -1, -1}));
    const void* in[] = {x.data()};
    void* to[] = {out};
    PointwiseLoop(p, {static_cast<int64_t>(x.size())}, {{DType::kFloat32, {1}}}, {type}).run(in, to);
  }
  EXPECT_EQ(y, (std::vector<int32_t>{1, -1, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 2147483520}));
  EXPECT_EQ(z, (std::vector<int64_t>{1, -1, 3000000000, -3000000000, INT64_MIN, INT64_MIN, 2147483520}));
}

TEST(PointwiseTypes, LogicIsOfBytesAndTakesAnythingButZeroForTrue) {
  const std::vector<uint8_t> x = {0, 1, 0, 1, 2, 128}, y = {0, 0, 1, 1, 1, 0};
  const auto run = [&](PointwiseOp op) {
    const int arity = pointwise_arity(op);
    PointwiseProgram p(std::vector<DType>(static_cast<size_t>(arity), DType::kBool));
    p.add_result(p.append(op, {0, arity > 1 ? 1 : -1, -1}));
    std::vector<uint8_t> out(x.size());
    const void* in[] = {x.data(), y.data()};
    void* to[] = {out.data()};
    PointwiseLoop(p, {static_cast<int64_t>(x.size())},
                  std::vector<PointwiseOperand>(static_cast<size_t>(arity), {DType::kBool, {1}}),
                  {DType::kBool})
        .run(std::span(in, static_cast<size_t>(arity)), to);
    return out;
  };
  EXPECT_EQ(run(PointwiseOp::kAnd), (std::vector<uint8_t>{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(run(PointwiseOp::kOr), (std::vector<uint8_t>{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(run(PointwiseOp::kXor), (std::vector<uint8_t>{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(run(PointwiseOp::kEqual), (std::vector<uint8_t>{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(run(PointwiseOp::kNot), (std::vector<uint8_t>{1, 0, 1, 0, 0, 0}));
}

TEST(PointwiseTypes, ClampKeepsNanAndTheUpperBoundWins) {
  PointwiseProgram p(3);
  p.add_result(p.append(PointwiseOp::kClamp, {0, 1, 2}));
  const std::vector<float> x = {kNan, -9, 9, 0.5F}, low = {-1}, high = {1}, lower = {-2};
  std::vector<float> y(4);
  void* to[] = {y.data()};
  const PointwiseLoop loop(p, {4}, {{DType::kFloat32, {1}}, {DType::kFloat32, {0}}, {DType::kFloat32, {0}}},
                           {DType::kFloat32});
  const void* in[] = {x.data(), low.data(), high.data()};
  loop.run(in, to);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ((std::vector<float>(y.begin() + 1, y.end())), (std::vector<float>{-1, 1, 0.5F}));
  const void* crossed[] = {x.data(), low.data(), lower.data()};
  loop.run(crossed, to);
  EXPECT_EQ((std::vector<float>(y.begin() + 1, y.end())), (std::vector<float>{-2, -2, -2}));
}

TEST(PointwiseTypes, ARegisterIsReusedForElementsOfItsSizeOnly) {
  PointwiseProgram p({DType::kBool});
  const int not_x = p.append(PointwiseOp::kNot, {0, -1, -1});
  const int wide = p.append(PointwiseOp::kToInt64, {not_x, -1, -1});
  const int negated = p.append(PointwiseOp::kNeg, {wide, -1, -1});
  p.add_result(p.append(PointwiseOp::kToBool, {negated, -1, -1}));
  PointwiseProgram allocated = p;
  allocated.allocate_registers();
  for (const PointwiseInstruction& in : allocated.code()) {
    if (in.result == in.args[0]) {
      EXPECT_EQ(in.type, DType::kInt64);
    }  // the negation alone
  }
  std::vector<uint8_t> x(3000), y(3000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 3 == 0;
  const void* in[] = {x.data()};
  void* to[] = {y.data()};
  PointwiseLoop(p, {3000}, {{DType::kBool, {1}}}, {DType::kBool}).run(in, to);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] == 0) << i;
}

TEST(PointwiseTypes, WrongTypesAreRefused) {
  PointwiseProgram p({DType::kInt32, DType::kFloat32, DType::kBool});
  EXPECT_THROW(p.append(PointwiseOp::kAdd, {0, 1, -1}), Error);
  EXPECT_THROW(p.append(PointwiseOp::kExp, {0, -1, -1}), Error);
  EXPECT_THROW(p.append(PointwiseOp::kAnd, {2, 0, -1}), Error);
  EXPECT_THROW(p.append(PointwiseOp::kSelect, {0, 1, 1}), Error);
  EXPECT_THROW(p.append(PointwiseOp::kNeg, {2, -1, -1}), Error);
  EXPECT_THROW(p.append(PointwiseOp::kNeg, {7, -1, -1}), Error);
  PointwiseProgram q(1);
  q.add_result(q.append(PointwiseOp::kNeg, {0, -1, -1}));
  EXPECT_THROW(PointwiseLoop(q, {4}, {{DType::kInt32, {1}}}, {DType::kFloat32}), Error);
  EXPECT_THROW(PointwiseLoop(q, {4}, {{DType::kFloat32, {1}}}, {DType::kInt64}), Error);
}

TEST(PointwiseMath, CircularAndHyperbolicFunctionsAreNearTheTrueValue) {
  const auto check = [](PointwiseOp op, double (*exact)(double), double absolute) {
    EXPECT_LT(worst_ulps(op, exact, absolute), 4) << pointwise_name(op);
  };
  check(
      PointwiseOp::kSin, [](double x) { return std::sin(x); }, 1e-7);
  check(
      PointwiseOp::kCos, [](double x) { return std::cos(x); }, 1e-7);
  check(
      PointwiseOp::kTan, [](double x) { return std::tan(x); }, kTiny);
  check(
      PointwiseOp::kAtan, [](double x) { return std::atan(x); }, kTiny);
  check(
      PointwiseOp::kAsin, [](double x) { return std::asin(x); }, kTiny);
  check(
      PointwiseOp::kAcos, [](double x) { return std::acos(x); }, kTiny);
  check(
      PointwiseOp::kSinh, [](double x) { return std::sinh(x); }, kTiny);
  check(
      PointwiseOp::kCosh, [](double x) { return std::cosh(x); }, kTiny);
  check(
      PointwiseOp::kAsinh, [](double x) { return std::asinh(x); }, kTiny);
  check(
      PointwiseOp::kAcosh, [](double x) { return std::acosh(x); }, kTiny);
  check(
      PointwiseOp::kAtanh, [](double x) { return std::atanh(x); }, kTiny);
}

TEST(PointwiseLoop, MayWriteOverItsOperand) {
  std::vector<float> x(3000), y(3000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = static_cast<float>(i % 7);
  PointwiseProgram p(2);
  const int a = p.append(PointwiseOp::kAdd, {0, 1, -1});
  const int b = p.append(PointwiseOp::kMul, {0, a, -1});
  p.add_result(p.append(PointwiseOp::kSub, {b, 0, -1}));
  const PointwiseLoop loop(p, {3000}, {{DType::kFloat32, {1}}, {DType::kFloat32, {1}}}, {DType::kFloat32});
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
