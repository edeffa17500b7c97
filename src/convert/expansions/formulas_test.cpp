// Losses, windows, frames, products by index and quantized arithmetic.
#include <cstring>

#include "base/log.h"
#include "convert/convert_test_util.h"

namespace assay::formulas_test {
namespace {

constexpr double kClose = 1e-12, kFloatConstants = 1e-6;

TEST(FormulaExpansion, ClassLosses) {
  const Tensor flat = mixed({4, 3}), image = mixed({2, 3, 2, 2});
  const Tensor labels = int64s({0, 2, 1, 2}),
               pixels = convert(int64s({0, 2, 1, 2, 1, 1, 0, 2}), DType::kInt32).reshaped({2, 2, 2});
  const Tensor weights = floats({0.5F, 0, 2}), outside = int64s({0, -7, 1, -7});
  for (const char* reduction : {"none", "sum", "mean"})
    for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
      const size_t outputs = op[0] == 'S' ? 2 : 1;
      const AttributeList plain = {{"reduction", std::string(reduction)}};
      AttributeList ignoring = plain, far = plain;
      ignoring.emplace_back("ignore_index", int64_t{-7});
      far.emplace_back("ignore_index", (int64_t{1} << 32) + 1);
      expect_same({op, 12, {flat, labels}, plain, outputs}, 11, {}, kClose);
      expect_same({op, 13, {image, pixels, weights}, plain, outputs}, 11, {}, kClose);
      expect_same({op, 13, {flat, outside}, ignoring, outputs}, 9, {}, kClose);
      expect_same({op, 13, {flat, outside, weights}, ignoring, outputs}, 11, {}, kClose);
      expect_same({op, 13, {image, pixels, weights}, far, outputs}, 11, {}, kClose);
      expect_same(with_open_axes({op, 13, {image, pixels}, plain, 1}, 0, {0, 2, 3}), 11, {}, kClose);
    }
  // A class of weight 0 contributes nothing, even if its probability is 0.
  const Tensor certain = floats({0, -INFINITY, -INFINITY, 0}).reshaped({2, 2});
  expect_same({"NegativeLogLikelihoodLoss",
               13,
               {certain, int64s({1, 1}), floats({1, 0})},
               {{"reduction", std::string("sum")}}},
              11);
}

TEST(FormulaExpansion, Windows) {
  for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"})
    for (const int64_t periodic : {0, 1})
      for (const int32_t size : {0, 1, 2, 9}) {
        const Tensor n = Tensor::scalar(size);
        const AttributeList how = {{"periodic", periodic}},
                            doubles = {{"periodic", periodic}, {"output_datatype", int64_t{11}}},
                            whole = {{"periodic", periodic}, {"output_datatype", int64_t{6}}};
        expect_same({op, 17, {n}, how}, 13, {}, kFloatConstants);
        expect_same({op, 17, {n}, doubles}, 11, {}, kClose);
        expect_same({op, 17, {n}, whole}, 10);
        expect_same({op, 17, {fixed(n)}, how}, 7, {}, kFloatConstants);
      }
}

TEST(FormulaExpansion, CenterCropPad) {
  for (const Ints& shape : {Ints{5, 2, 7}, Ints{2, 7, 3}, Ints{0, 3, 4}}) {
    const Tensor wanted = int64s(shape);
    expect_same({"CenterCropPad", 18, {mixed({4, 5, 3}), wanted}}, 13);
    expect_same({"CenterCropPad", 18, {mixed({4, 5, 3}), fixed(wanted)}}, 10, {"Pad"});
    expect_same(with_open_axes({"CenterCropPad", 18, {mixed({4, 5, 3}), fixed(wanted)}}, 0, {0, 1}), 11);
  }
  const AttributeList axes = {{"axes", Ints{-1, 0}}};
  expect_same({"CenterCropPad", 18, {mixed({4, 5, 3}), convert(int64s({6, 1}), DType::kInt32)}, axes}, 13);
  expect_same({"CenterCropPad", 18, {mixed({4, 5, 3}), fixed(int64s({6, 1}))}, axes}, 7, {"Pad"});
}

TEST(FormulaExpansion, AffineGrid) {
  for (const int64_t corners : {0, 1}) {
    const AttributeList how = {{"align_corners", corners}};
    expect_same({"AffineGrid", 20, {mixed({2, 2, 3}), int64s({2, 3, 4, 5})}, how}, 13, {}, kClose);
    expect_same({"AffineGrid", 20, {mixed({1, 2, 3}, DType::kFloat64), fixed(int64s({1, 3, 1, 3}))}, how}, 7,
                {}, kClose);
    expect_same({"AffineGrid", 20, {mixed({2, 3, 4}), int64s({2, 3, 4, 1, 2})}, how}, 10, {}, kClose);
  }
}

TEST(FormulaExpansion, CausalConvWithState) {
  const Tensor x = mixed({2, 3, 5}), w = mixed({3, 1, 4}), bias = floats({1, 2, 3}), past = mixed({2, 3, 3});
  for (const char* activation : {"none", "silu"}) {
    const AttributeList how = {{"activation", std::string(activation)}};
    expect_same({"CausalConvWithState", 27, {x, w}, how, 2}, 13, {}, kClose);
    expect_same({"CausalConvWithState", 27, {x, w, bias, past}, how, 2}, 11, {}, kClose);
    expect_same({"CausalConvWithState", 27, {mixed({2, 3, 1}), w, missing(), past}, how, 2}, 7, {}, kClose);
    expect_same({"CausalConvWithState", 27, {mixed({2, 3, 2}), mixed({3, 1, 1})}, how, 2}, 11, {}, kClose);
  }
}

OneNode einsum(const char* equation, const std::vector<TestInput>& inputs) {
  return {"Einsum", 12, inputs, {{"equation", std::string(equation)}}};
}

TEST(FormulaExpansion, Einsum) {
  const Tensor a = mixed({2, 3}), b = mixed({3, 4}), c = mixed({4, 2}), cube = mixed({2, 3, 4});
  expect_same(einsum("ij,jk->ik", {a, b}), 11, {"Transpose", "Transpose", "MatMul"}, kClose);
  expect_same(einsum("ij->ji", {a}), 7, {"Transpose"});
  expect_same(einsum("ij", {a}), 7, {"Identity"});
  expect_same(einsum("ba", {a}), 7, {"Transpose"});
  for (const char* e :
       {"ij,jk,kl->il", "ij,jk,kl->l", "ij,jk,kl->", "ij,jk,ki", "ij,jk,kl->ijkl", "ij,jk,kl->ki"})
    expect_same(einsum(e, {a, b, c}), 11, {}, kClose);
  expect_same(einsum("bhqd,bhkd->bhqk", {mixed({2, 3, 4, 5}), mixed({2, 3, 6, 5})}), 9, {}, kClose);
  expect_same(einsum("bqhd,hdm->bqm", {mixed({2, 4, 3, 5}), mixed({3, 5, 6})}), 11, {}, kClose);
  expect_same(einsum("abcde,fbgd->aecfg", {mixed({2, 3, 2, 4, 2}), mixed({2, 3, 3, 4})}), 11, {}, kClose);
  expect_same(einsum("i,j->ij", {floats({1, 2}), floats({3, NAN, -INFINITY})}), 11, {}, kClose);
  expect_same(einsum("i,i->", {floats({1, 2}), floats({3, 4})}), 11, {}, kClose);
  expect_same(einsum("...ij,...jk->...ik", {mixed({2, 1, 3, 4}), mixed({5, 4, 2})}), 11, {}, kClose);
  expect_same(einsum("...ii->...i", {mixed({2, 3, 3})}), 11);
  Tensor square = mixed({3, 3});
  square.mutable_data<float>()[1] = NAN;
  expect_same(einsum("ii->i", {square}), 7);
  expect_same(einsum("ii", {square}), 11, {}, kClose);
  expect_same(einsum("iji,jkj->ik", {mixed({2, 3, 2}), mixed({3, 2, 3})}), 11, {}, kClose);
  expect_same(einsum("iii->i", {mixed({2, 2, 2})}), 11);
  // Extents of 1 broadcast, be they known or not.
  expect_same(einsum("ij,jk->ik", {mixed({2, 1}), b}), 11, {}, kClose);
  expect_same(with_open_axes(einsum("ij,jk->ik", {mixed({2, 1}), b}), 0, {0, 1}), 11, {}, kClose);
  expect_same(einsum("ijk,ik->j", {mixed({1, 3, 4}), mixed({2, 4})}), 11, {}, kClose);
  expect_same(einsum("ij,jk->ik", {mixed({2, 0}), mixed({0, 4})}), 11, {}, kClose);
  expect_same(einsum("ijk,jkl->il", {mixed({2, 0, 3}), mixed({0, 3, 4})}), 11, {}, kClose);
  expect_same(einsum("ij,jk->ik", {convert(a, DType::kInt32), convert(b, DType::kInt32)}), 9);
  EXPECT_NE(refusal(with_open_axes(einsum("ii->i", {square}), 0, {0}), 11).find("a diagonal"),
            std::string::npos);
}

TEST(FormulaExpansion, Quantised) {
  const auto u8 = [](const Ints& v) { return convert(int64s(v), DType::kUInt8); };
  const auto i8 = [](const Ints& v) { return convert(int64s(v), DType::kInt8); };
  const Tensor a = u8({0, 255, 7, 128, 3, 200}).reshaped({2, 3}),
               b = i8({-128, 127, 5, -6, 0, 99}).reshaped({3, 2});
  const Tensor point = convert(Tensor::scalar(int64_t{128}), DType::kUInt8),
               minus = convert(Tensor::scalar(int64_t{-5}), DType::kInt8);
  expect_same({"MatMulInteger", 10, {a, b}}, 9);
  expect_same({"MatMulInteger", 10, {a, b, point, minus}}, 9);
  expect_same({"MatMulInteger", 10, {a, b, u8({1, 200}), i8({-3, 4})}}, 9);
  const Tensor image = convert(convert(mixed({1, 2, 4, 4}), DType::kInt8), DType::kUInt8),
               kernel = i8({1, -128, 127, 3, 0, -1, 2, 2}).reshaped({1, 2, 2, 2});
  expect_same({"ConvInteger", 10, {image, kernel, point}, {{"pads", Ints{1, 1, 1, 1}}}}, 9);
  expect_same({"ConvInteger", 10, {image, kernel, missing(), minus}, {{"strides", Ints{2, 1}}}}, 7);
  expect_same({"DequantizeLinear", 10, {a, Tensor::scalar(0.1F), point}}, 9);
  expect_same({"DequantizeLinear", 10, {b, Tensor::scalar(0.1F)}}, 7);
  const Tensor x = floats({-1000, -0.5F, 0.5F, 1.5F, 2.5F, 0.3F, 77, 1e9F, INFINITY, -INFINITY});
  expect_same({"QuantizeLinear", 10, {x, Tensor::scalar(1.0F), point}}, 9);
  expect_same({"QuantizeLinear", 10, {x, Tensor::scalar(0.7F), minus}}, 7);
  expect_same({"QuantizeLinear", 10, {x, Tensor::scalar(0.25F)}}, 9);
}

/// In float32 as long as that holds the sums; beyond, a warning names the node.
TEST(FormulaExpansion, ConvIntegerIsExactInTheTypeThatItGets) {
  const auto u8 = [](int64_t value, Shape shape) {
    Tensor t = Tensor::allocate(DType::kUInt8, std::move(shape));
    std::memset(t.mutable_data(), static_cast<int>(value), t.nbytes());
    return t;
  };
  for (const int64_t channels : {64, 65}) {
    const log::Capture capture;
    expect_same({"ConvInteger", 10, {u8(255, {1, channels, 2, 2}), u8(255, {1, channels, 2, 2})}}, 9);
    const std::string said = capture.out();
    EXPECT_EQ(said.find("becomes a Conv of float64") != std::string::npos, channels == 65) << said;
  }
  // Constant weights say how large the sums become: 260 times 200 times 255 is below 2^24, 260 times 255
  // times 255 is not.
  for (const int64_t point : {200, 0})
    for (const int64_t weight : {255, 0}) {
      const log::Capture capture;
      const TestInput weights = fixed(u8(weight, {1, 65, 2, 2})), zero = fixed(u8(point, {}));
      expect_same({"ConvInteger", 10, {u8(255, {1, 65, 2, 2}), weights, missing(), zero}}, 9);
      const std::string said = capture.out();
      EXPECT_EQ(said.find("becomes a Conv of float64") != std::string::npos, point == 0 && weight == 255)
          << said;
    }
}

}  // namespace
}  // namespace assay::formulas_test
