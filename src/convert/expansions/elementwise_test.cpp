// Equivalents that hold for every value, or none.
#include <limits>

#include "convert/convert_test_util.h"

namespace assay::elementwise_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// NaN, infinities, zeros of both signs, and numbers at which something changes.
Tensor odd_numbers(DType dtype = DType::kFloat32) {
  return convert(floats({NAN,   kInf,        -kInf, 0,      -0.0F,   0.5F,    -0.5F, 1.5F,   -1.5F, 2.5F,
                         -2.5F, 0.49999997F, -0.3F, 1e-20F, -1e-20F, 8388609, 3e38F, -3e38F, 7,     -7}),
                 dtype);
}

template <typename T>
Tensor extremes() {
  constexpr T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
  return Tensor::from<T>({6}, {low, high, T(0), T(1), T(7), T(low + 1)});
}

TEST(ElementwiseExpansion, EveryValueIsBitForBit) {
  for (const DType t : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    const Tensor x = odd_numbers(t);
    expect_same({"IsNaN", 13, {x}}, 7, {"Less", "Greater", "Or", "Not"});
    expect_same({"Sign", 9, {x}}, 7);
    expect_same({"Round", 11, {x}}, 9);
    expect_same({"Round", 11, {x}}, 7);
    expect_same({"Shrink", 9, {x}, {{"lambd", 0.5F}, {"bias", 0.25F}}}, 7);
  }
  expect_same({"IsInf", 20, {odd_numbers()}}, 9, {"Greater", "Less", "Or"});
  for (const int64_t positive : {0, 1})
    for (const int64_t negative : {0, 1})
      expect_same({"IsInf",
                   10,
                   {odd_numbers(DType::kFloat64)},
                   {{"detect_positive", positive}, {"detect_negative", negative}}},
                  7);
}

TEST(ElementwiseExpansion, Integers) {
  expect_same({"Sign", 13, {extremes<int64_t>()}}, 7);
  expect_same({"Sign", 13, {extremes<uint64_t>()}}, 7);
  expect_same({"Sign", 13, {extremes<int8_t>()}}, 7);
  const Tensor a = int64s({7, -7, 7, -7, 0, std::numeric_limits<int64_t>::max() - 1}),
               b = int64s({3, 3, -3, -3, -5, std::numeric_limits<int64_t>::max()});
  for (const int64_t fmod : {0, 1})
    for (const DType t : {DType::kInt64, DType::kInt32, DType::kInt16, DType::kInt8})
      expect_same({"Mod", 10, {convert(a, t), convert(b, t)}, {{"fmod", fmod}}}, 7);
  for (const DType t : {DType::kUInt64, DType::kUInt32, DType::kUInt8})
    expect_same({"Mod", 13, {convert(int64s({7, 250, 0}), t), convert(int64s({3, 7, 9}), t)}}, 9);
  EXPECT_NE(
      refusal({"Mod", 13, {mixed({3}), mixed({3})}, {{"fmod", int64_t{1}}}}, 9).find("remainder of floats"),
      std::string::npos);
}

TEST(ElementwiseExpansion, HyperbolicFunctions) {
  const Tensor small = Tensor::vector(std::vector<double>{0, 1e-12, -1e-12, 0.3, -2, 40, 709.9, -710.3, 711});
  for (const char* op : {"Sinh", "Cosh"}) {
    expect_same({op, 9, {odd_numbers()}}, 7, {}, 1e-12);
    // Relative to the result, which is tiny or near the largest number.
    const OneNode node(op, 22, {small});
    const Tensor x = evaluate(node.model, node.feed)[0],
                 y = evaluate(converted(*node.model, 8), node.feed)[0];
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double p = x.data<double>()[i], q = y.data<double>()[i];
      EXPECT_TRUE(p == q || std::abs(p / q - 1) < 1e-12) << op << " of " << small.data<double>()[i];
    }
  }
}

TEST(ElementwiseExpansion, Bits) {
  for (const char* direction : {"LEFT", "RIGHT"}) {
    const AttributeList attributes = {{"direction", std::string(direction)}};
    const auto check = [&]<typename T>(T, int64_t from, int64_t to) {
      const T width = static_cast<T>(8 * sizeof(T)), big = std::numeric_limits<T>::max();
      const Tensor x = extremes<T>();
      const Tensor by = Tensor::from<T>({6}, {T(1), static_cast<T>(width - 1), T(3), T(0), width, big});
      expect_same({"BitShift", from, {x, by}, attributes}, to);
      expect_same({"BitShift", from, {x, fixed(by)}, attributes}, to);
      expect_same({"BitShift", from, {x, Tensor::scalar(T(2))}, attributes}, to);
    };
    for (const int64_t to : {27, 10, 7}) {
      check(uint8_t{}, 28, to);
      check(uint64_t{}, 28, to);
      check(int8_t{}, 28, to);
      check(int32_t{}, 28, to);
      check(int64_t{}, 28, to);
    }
    const Tensor negative = Tensor::vector(std::vector<int32_t>{-1, -64, 3});
    expect_same({"BitShift", 28, {negative, negative}, attributes}, 11);
    // An operator that every version defines stays one node.
    expect_same({"BitShift", 28, {extremes<uint32_t>(), fixed(Tensor::scalar(uint32_t{5}))}, attributes}, 11,
                {"BitShift"});
  }
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    expect_same({op, 18, {extremes<int8_t>(), extremes<int8_t>().reshaped({6, 1})}}, 13);
    expect_same({op, 18, {extremes<uint64_t>(), extremes<uint64_t>().reshaped({6, 1})}}, 7);
    expect_same({op, 18, {extremes<int64_t>(), extremes<int64_t>().reshaped({6, 1})}}, 9);
  }
  expect_same({"BitwiseNot", 18, {extremes<int16_t>()}}, 9);
  expect_same({"BitwiseNot", 18, {extremes<uint16_t>()}}, 7);
  expect_same({"BitwiseNot", 18, {extremes<uint64_t>()}}, 13);
  expect_same({"BitwiseNot", 18, {extremes<int64_t>()}}, 13);
}

TEST(ElementwiseExpansion, BitsOfIntegers) {
  const AttributeList u8 = {{"to", int64_t{2}}}, i64 = {{"to", int64_t{7}}}, f32 = {{"to", int64_t{1}}};
  expect_same({"BitCast", 26, {extremes<int8_t>()}, u8}, 25, {"Cast"});
  expect_same({"BitCast", 26, {extremes<uint64_t>()}, i64}, 7, {"Cast"});
  expect_same({"BitCast", 26, {odd_numbers()}, f32}, 13, {"Identity"});
  EXPECT_NE(refusal({"BitCast", 26, {extremes<int32_t>()}, f32}, 25).find("the bits of int32 as float32"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::elementwise_test
