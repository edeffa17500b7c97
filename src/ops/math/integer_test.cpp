// Integer rules of the arithmetic operators: wrapping, truncation, mixed types, refused divisors, ranges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/op_test_util.h"

namespace assay::integer_test {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

template <typename T>
std::vector<T> values(const Tensor& t) {
  const auto s = t.span<T>();
  return {s.begin(), s.end()};
}

template <typename T>
std::vector<T> binary(const char* op, int64_t opset, std::vector<T> a, std::vector<T> b,
                      AttributeList attributes = {}) {
  return values<T>(run_op(op, opset, {Tensor::vector(a), Tensor::vector(b)}, std::move(attributes))[0]);
}

using I8 = std::vector<int8_t>;
using U8 = std::vector<uint8_t>;
using U16 = std::vector<uint16_t>;
using I32 = std::vector<int32_t>;
using I64 = std::vector<int64_t>;
using U64 = std::vector<uint64_t>;

TEST(IntegerArithmetic, WrapsInItsOwnType) {
  EXPECT_EQ(binary<int8_t>("Add", 14, {127, -128}, {1, -1}), (I8{-128, 127}));
  EXPECT_EQ(binary<uint8_t>("Sub", 14, {0, 5}, {1, 3}), (U8{255, 2}));
  EXPECT_EQ(binary<uint16_t>("Mul", 14, {65535}, {65535}), (U16{1}));
  EXPECT_EQ(binary<int64_t>("Add", 13, {INT64_MAX}, {1}), (I64{kLowest}));
  // A double would lose the last bits.
  EXPECT_EQ(binary<int64_t>("Mul", 13, {3037000499}, {3037000499}), (I64{9223372030926249001}));
  EXPECT_EQ(values<int64_t>(run_op("Neg", 13, {Tensor::vector<int64_t>({kLowest, 5})})[0]),
            (I64{kLowest, -5}));
  EXPECT_EQ(values<int8_t>(run_op("Abs", 13, {Tensor::vector<int8_t>({-128, -3, 4})})[0]), (I8{-128, 3, 4}));
  EXPECT_EQ(values<uint8_t>(run_op("Sign", 13, {Tensor::vector<uint8_t>({0, 200})})[0]), (U8{0, 1}));
}

TEST(IntegerDivision, TruncatesAndRefusesZero) {
  EXPECT_EQ(binary<int64_t>("Div", 14, {7, -7, 7, kLowest}, {2, 2, -2, -1}), (I64{3, -3, -3, kLowest}));
  EXPECT_EQ(binary<uint64_t>("Div", 14, {UINT64_MAX}, {2}), (U64{INT64_MAX}));
  EXPECT_THROW(binary<int64_t>("Div", 14, {1}, {0}), Error);
  EXPECT_THROW(binary<uint8_t>("Mod", 13, {1}, {0}), Error);
  EXPECT_EQ(run_op("Div", 14, {Tensor::vector(I64{}), Tensor::vector(I64{0})})[0].numel(), 0)
      << "nothing to divide";
}

TEST(Mod, TakesTheSignOfTheDivisorOrOfTheDividend) {
  const I64 a{-4, 7, 5, 4, -7, 8, kLowest}, b{2, -3, 8, -2, 3, 5, -1};
  EXPECT_EQ(binary("Mod", 13, a, b), (I64{0, -2, 5, 0, 2, 3, 0}));
  EXPECT_EQ(binary("Mod", 13, a, b, {{"fmod", int64_t{1}}}), (I64{0, 1, 5, 0, -1, 3, 0}));
  EXPECT_EQ(binary<uint8_t>("Mod", 10, {200}, {7}), (U8{4}));
  EXPECT_THROW(binary("Mod", 13, a, b, {{"fmod", int64_t{2}}}), Error);
}

TEST(Mod, OfFloatsIsExactAndNeedsFmodBeforeVersion28) {
  const std::vector<double> a{-4.3, 7.2, 5}, b{2.1, -3.4, 8};
  const auto truncated = binary("Mod", 13, a, b, {{"fmod", int64_t{1}}});
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(truncated[i], std::fmod(a[i], b[i]));
  EXPECT_THROW(binary("Mod", 13, a, b), Error);
  const auto floored = binary("Mod", 28, a, b);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(floored[i], a[i] - std::floor(a[i] / b[i]) * b[i], 1e-14);
  const double inf = std::numeric_limits<double>::infinity();
  const auto special = binary<double>("Mod", 28, {-0.0, 0.0, inf, 1, -1, 1}, {3, -3, 2, 0, inf, inf});
  EXPECT_FALSE(std::signbit(special[0]));
  EXPECT_TRUE(special[1] == 0 && std::signbit(special[1]));
  EXPECT_TRUE(std::isnan(special[2]) && std::isnan(special[3]));
  EXPECT_EQ(special[4], inf);
  EXPECT_EQ(special[5], 1);
}

TEST(Pow, ComputesInTheTypeOfTheBase) {
  EXPECT_EQ(binary<int32_t>("Pow", 15, {3, -2, 2, 1, -1, 5}, {4, 3, 32, -7, -3, -1}),
            (I32{81, -8, 0, 1, -1, 0}));
  // 3^39 needs 62 bits, more than a double holds.
  EXPECT_EQ(binary<int64_t>("Pow", 15, {3}, {39}), (I64{4052555153018976267}));
  EXPECT_THROW(binary<int32_t>("Pow", 15, {0}, {-1}), Error);
  const Tensor base = Tensor::vector<int32_t>({9, 2, 7}), root = Tensor::scalar<double>(0.5);
  EXPECT_EQ(values<int32_t>(run_op("Pow", 12, {base, root})[0]), (I32{3, 1, 2})) << "truncated";
  const Tensor huge = Tensor::scalar<double>(1e300);
  EXPECT_EQ(values<int32_t>(run_op("Pow", 12, {base, huge})[0]), (I32(3, INT32_MAX)))
      << "clamped, not undefined";
  const Tensor x = Tensor::vector<double>({2, -2}), n = Tensor::scalar<int64_t>(-3);
  EXPECT_EQ(values<double>(run_op("Pow", 13, {x, n})[0]), (std::vector<double>{0.125, -0.125}));
}

TEST(Clip, KeepsLargeIntegersExact) {
  const Tensor x = Tensor::vector<int64_t>({INT64_MAX, kLowest, 5});
  EXPECT_EQ(values<int64_t>(run_op("Clip", 12, {x, Tensor::scalar<int64_t>(-7)})[0]),
            (I64{INT64_MAX, -7, 5}));
}

TEST(Shrink, MovesIntegersExactly) {
  const Tensor x = Tensor::vector<int64_t>({INT64_MAX, 1, -9, 0});
  const AttributeList attributes{{"lambd", 1.5f}, {"bias", 1.0f}};
  EXPECT_EQ(values<int64_t>(run_op("Shrink", 9, {x}, attributes)[0]), (I64{INT64_MAX - 1, 0, -8, 0}));
}

template <typename T>
std::vector<T> range(T start, T limit, T delta) {
  return values<T>(
      run_op("Range", 11, {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)})[0]);
}

TEST(Range, RoundsTheLengthUp) {
  EXPECT_EQ(range<int64_t>(3, 9, 3), (I64{3, 6}));
  EXPECT_EQ(range<int64_t>(3, 10, 3), (I64{3, 6, 9}));
  EXPECT_EQ(range<int64_t>(10, 4, -2), (I64{10, 8, 6}));
  EXPECT_EQ(range<int32_t>(5, 5, 1), (I32{}));
  EXPECT_EQ(range<int32_t>(5, 9, -1), (I32{}));
  EXPECT_EQ(range<double>(1, 2, 0.25), (std::vector<double>{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(range<int64_t>(kLowest, INT64_MAX, INT64_MAX), (I64{kLowest, -1, INT64_MAX - 1}));
}

TEST(Range, RefusesWhatHasNoSensibleLength) {
  EXPECT_THROW(range<int64_t>(0, 1, 0), Error);
  EXPECT_THROW(range<int64_t>(kLowest, INT64_MAX, 1), Error);
  EXPECT_THROW(range<double>(0, 1, 0), Error);
  EXPECT_THROW(range<double>(0, 1, 1e-300), Error);
  EXPECT_THROW(range<double>(0, std::nan(""), 1), Error);
  EXPECT_THROW(
      run_op("Range", 11,
             {Tensor::vector<int64_t>({0, 1}), Tensor::scalar<int64_t>(3), Tensor::scalar<int64_t>(1)}),
      Error);
}

}  // namespace
}  // namespace assay::integer_test
