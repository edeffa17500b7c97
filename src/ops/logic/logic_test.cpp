// Comparisons, logic on bools and bits, selection.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/op_test_util.h"

namespace assay::logic_test {
namespace {

using Bools = std::vector<bool>;

Tensor bools(const Bools& v) { return Tensor::vector(v); }

Bools bools(const Tensor& t) {
  const auto s = t.span<bool>();
  return {s.begin(), s.end()};
}

template <typename T>
std::vector<T> numbers(const Tensor& t) {
  const auto s = t.span<T>();
  return {s.begin(), s.end()};
}

TEST(Logic, FollowsTheTruthTables) {
  const Tensor a = bools({false, false, true, true}), b = bools({false, true, false, true});
  EXPECT_EQ(bools(run_op("And", 7, {a, b})[0]), (Bools{false, false, false, true}));
  EXPECT_EQ(bools(run_op("Or", 7, {a, b})[0]), (Bools{false, true, true, true}));
  EXPECT_EQ(bools(run_op("Xor", 7, {a, b})[0]), (Bools{false, true, true, false}));
  EXPECT_EQ(bools(run_op("Not", 7, {a})[0]), (Bools{true, true, false, false}));
}

TEST(Compare, IsFalseForNaNAndExactForLargeIntegers) {
  const double nan = std::nan("");
  const Tensor a = Tensor::vector<double>({1, 2, 3, nan}), b = Tensor::scalar<double>(2);
  EXPECT_EQ(bools(run_op("Less", 9, {a, b})[0]), (Bools{true, false, false, false}));
  EXPECT_EQ(bools(run_op("LessOrEqual", 12, {a, b})[0]), (Bools{true, true, false, false}));
  EXPECT_EQ(bools(run_op("Greater", 9, {a, b})[0]), (Bools{false, false, true, false}));
  EXPECT_EQ(bools(run_op("GreaterOrEqual", 16, {a, b})[0]), (Bools{false, true, true, false}));
  EXPECT_EQ(bools(run_op("Equal", 11, {a, a})[0]), (Bools{true, true, true, false}));
  const Tensor x = Tensor::vector<int64_t>({INT64_MAX}), z = Tensor::vector<int64_t>({INT64_MAX - 1});
  EXPECT_EQ(bools(run_op("Greater", 9, {x, z})[0]), Bools{true});
  const Tensor u = Tensor::vector<uint8_t>({200}), v = Tensor::vector<uint8_t>({100});
  EXPECT_EQ(bools(run_op("Less", 9, {u, v})[0]), Bools{false}) << "unsigned";
}

TEST(Compare, ComparesStringsAndBools) {
  const Tensor a = Tensor::vector<std::string>({"a", "b"}), b = Tensor::scalar<std::string>("b");
  EXPECT_EQ(bools(run_op("Equal", 19, {a, b})[0]), (Bools{false, true}));
  EXPECT_EQ(bools(run_op("Equal", 7, {bools({true, false}), bools({true, true})})[0]), (Bools{true, false}));
}

TEST(Where, SelectsElementsOfEveryWidth) {
  const Tensor mask = bools({true, false}).reshaped({2, 1});
  const Tensor y = run_op("Where", 16, {mask, Tensor::vector<double>({1, 2}), Tensor::scalar<double>(9)})[0];
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(numbers<double>(y), (std::vector<double>{1, 2, 9, 9}));
  const Tensor s = run_op(
      "Where", 9,
      {bools({false, true}), Tensor::scalar<std::string>("yes"), Tensor::scalar<std::string>("no")})[0];
  EXPECT_EQ(numbers<std::string>(s), (std::vector<std::string>{"no", "yes"}));
  const Tensor complex = Tensor::zeros(DType::kComplex128, {1});
  EXPECT_TRUE(run_op("Where", 9, {bools({true}), complex, complex})[0].identical(complex));
  const Tensor bytes = run_op(
      "Where", 9, {bools({true, false}), Tensor::vector<int8_t>({-1, 2}), Tensor::vector<int8_t>({3, 4})})[0];
  EXPECT_EQ(numbers<int8_t>(bytes), (std::vector<int8_t>{-1, 4}));
  EXPECT_THROW(run_op("Where", 9, {bools({true}), Tensor::scalar<int64_t>(1), Tensor::scalar<int32_t>(1)}),
               Error);
}

TEST(FloatClasses, FindNaNAndInfinitiesOfEitherSign) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = Tensor::vector<double>({1, std::nan(""), inf, -inf});
  EXPECT_EQ(bools(run_op("IsNaN", 20, {x})[0]), (Bools{false, true, false, false}));
  EXPECT_EQ(bools(run_op("IsInf", 10, {x})[0]), (Bools{false, false, true, true}));
  EXPECT_EQ(bools(run_op("IsInf", 20, {x}, {{"detect_negative", int64_t{0}}})[0]),
            (Bools{false, false, true, false}));
  EXPECT_EQ(bools(run_op("IsInf", 20, {x}, {{"detect_positive", int64_t{0}}})[0]),
            (Bools{false, false, false, true}));
}

TEST(Bitwise, WorksOnEveryBit) {
  const Tensor a = Tensor::vector<int8_t>({-1, 0x0f}), b = Tensor::vector<int8_t>({0x55, 0x3c});
  EXPECT_EQ(numbers<int8_t>(run_op("BitwiseAnd", 18, {a, b})[0]), (std::vector<int8_t>{0x55, 0x0c}));
  EXPECT_EQ(numbers<int8_t>(run_op("BitwiseOr", 18, {a, b})[0]), (std::vector<int8_t>{-1, 0x3f}));
  EXPECT_EQ(numbers<int8_t>(run_op("BitwiseXor", 18, {a, b})[0]), (std::vector<int8_t>{-86, 0x33}));
  EXPECT_EQ(numbers<uint16_t>(run_op("BitwiseNot", 18, {Tensor::vector<uint16_t>({1})})[0]),
            (std::vector<uint16_t>{0xfffe}));
}

TEST(BitShift, KeepsTheSignAndEmptiesWhatIsShiftedOut) {
  const AttributeList left{{"direction", std::string("LEFT")}}, right{{"direction", std::string("RIGHT")}};
  const Tensor x = Tensor::vector<uint8_t>({129, 4, 255}), n = Tensor::vector<uint8_t>({1, 2, 8});
  EXPECT_EQ(numbers<uint8_t>(run_op("BitShift", 11, {x, n}, left)[0]), (std::vector<uint8_t>{2, 16, 0}));
  EXPECT_EQ(numbers<uint8_t>(run_op("BitShift", 11, {x, n}, right)[0]), (std::vector<uint8_t>{64, 1, 0}));
  const Tensor s = Tensor::vector<int32_t>({-8, -8, 8, -8}), m = Tensor::vector<int32_t>({1, 32, -1, -1});
  EXPECT_EQ(numbers<int32_t>(run_op("BitShift", 28, {s, m}, right)[0]),
            (std::vector<int32_t>{-4, -1, 0, -1}));
  EXPECT_EQ(numbers<int32_t>(run_op("BitShift", 28, {s, m}, left)[0]), (std::vector<int32_t>{-16, 0, 0, 0}));
  EXPECT_THROW(run_op("BitShift", 11, {x, n}, {{"direction", std::string("UP")}}), Error);
}

}  // namespace
}  // namespace assay::logic_test
