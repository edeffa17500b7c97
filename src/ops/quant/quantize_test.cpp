#include <cmath>
#include <limits>

#include "ops/nn/test_tensors.h"
#include "tensor/half.h"

namespace assay::quantize_test {
namespace {

Tensor floats(const std::vector<float>& v) { return Tensor::vector<float>(v); }

TEST(QuantizeLinear, RoundsToEvenAndSaturates) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const Tensor x = floats({0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 300, -300, infinity, -infinity, 1e30F, nan});
  const auto run = [&](Tensor zero) {
    return run_op("QuantizeLinear", 21, {x, Tensor::scalar(1.0F), std::move(zero)})[0].to_int64();
  };
  EXPECT_EQ(run(Tensor::scalar<uint8_t>(10)), (Ints{10, 12, 12, 10, 8, 255, 0, 255, 0, 255, 0}));
  EXPECT_EQ(run(Tensor::scalar<int8_t>(0)), (Ints{0, 2, 2, 0, -2, 127, -128, 127, -128, 127, -128}));
  EXPECT_EQ(run(Tensor::scalar<int16_t>(0)), (Ints{0, 2, 2, 0, -2, 300, -300, 32767, -32768, 32767, -32768}));
}

// The quotient is just below 3.5, and rounds to it in float: the tie decides.
TEST(QuantizeLinear, DividesInThePrecisionOfTheScale) {
  const float x = 0.35F, scale = 0.1F;
  ASSERT_EQ(x / scale, 3.5F);
  ASSERT_LT(static_cast<double>(x) / static_cast<double>(scale), 3.5);
  EXPECT_EQ(run_op("QuantizeLinear", 21, {floats({x}), Tensor::scalar(scale)})[0].to_int64(), (Ints{4}));
  const Tensor wide = Tensor::vector<double>({static_cast<double>(x)});
  EXPECT_EQ(run_op("QuantizeLinear", 21, {wide, Tensor::scalar(static_cast<double>(scale))})[0].to_int64(),
            (Ints{3}));
}

TEST(QuantizeLinear, FindsTheScaleOfAnAxisOrBlock) {
  const Tensor x = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto run = [&](Tensor scale, AttributeList attributes) {
    return run_op("QuantizeLinear", 21, {x, std::move(scale)}, std::move(attributes))[0].to_int64();
  };
  EXPECT_EQ(run(floats({1, 2, 3}), {}), (Ints{1, 1, 1, 4, 2, 2}));
  EXPECT_EQ(run(floats({1, 0.5F}), {{"axis", int64_t{0}}}), (Ints{1, 2, 3, 8, 10, 12}));
  EXPECT_EQ(run(Tensor::from<float>({2, 2}, std::vector<float>{1, 0.5F, 0.25F, 0.1F}),
                {{"block_size", int64_t{2}}}),
            (Ints{1, 2, 6, 16, 20, 60}));
  EXPECT_EQ(run(Tensor::from<float>({1, 3}, std::vector<float>{1, 0.5F, 0.25F}),
                {{"axis", int64_t{0}}, {"block_size", int64_t{5}}}),
            (Ints{1, 4, 12, 4, 10, 24}));
}

TEST(QuantizeLinear, WritesNarrowTypes) {
  const Tensor x = floats({-9, -3.5F, 0.4F, 7.5F, 100});
  const auto run = [&](DType to) {
    return run_op("QuantizeLinear", 25, {x, Tensor::scalar(1.0F)},
                  {{"output_dtype", static_cast<int64_t>(to)}})[0];
  };
  EXPECT_EQ(run(DType::kInt4).dtype(), DType::kInt4);
  EXPECT_EQ(unpack(run(DType::kInt4)).to_int64(), (Ints{-8, -4, 0, 7, 7}));
  EXPECT_EQ(unpack(run(DType::kUInt2)).to_int64(), (Ints{0, 0, 0, 3, 3}));
  const Tensor narrow = to_float64(run(DType::kFloat8E4M3FN));
  EXPECT_EQ(values(narrow), (Values{-9, -3.5, 0.40625, 7.5, 96}));
  const Tensor large =
      run_op("QuantizeLinear", 21, {floats({1e6F}), Tensor::scalar(1.0F)},
             {{"output_dtype", static_cast<int64_t>(DType::kFloat8E4M3FN)}, {"saturate", int64_t{0}}})[0];
  EXPECT_TRUE(std::isnan(to_float64(large).item<double>()));
}

TEST(DequantizeLinear, UndoesQuantization) {
  const Tensor x = Tensor::from<uint8_t>({2, 2}, std::vector<uint8_t>{0, 255, 128, 130});
  const Tensor y =
      run_op("DequantizeLinear", 21, {x, floats({0.5F, 2}), Tensor::vector<uint8_t>({128, 130})})[0];
  EXPECT_EQ(y.dtype(), DType::kFloat32);
  EXPECT_EQ(values(to_float64(y)), (Values{-64, 250, 0, 0}));
  const Tensor half =
      run_op("DequantizeLinear", 23, {x, Tensor::scalar(1.0F)}, {{"output_dtype", int64_t{10}}})[0];
  EXPECT_EQ(half.dtype(), DType::kFloat16);
  const Tensor four = pack(Tensor::vector<int8_t>({-8, 7, 1}), DType::kInt4);
  EXPECT_EQ(values(to_float64(run_op("DequantizeLinear", 21, {four, Tensor::scalar(0.5F)})[0])),
            (Values{-4, 3.5, 0.5}));
}

TEST(DynamicQuantizeLinear, CoversTheRangeAndZero) {
  const std::vector<Tensor> y = run_op("DynamicQuantizeLinear", 11, {floats({1, 3, 4})}, {}, 3);
  EXPECT_EQ(y[1].item<float>(), 4.0F / 255);
  EXPECT_EQ(y[2].item<uint8_t>(), 0);
  EXPECT_EQ(y[0].to_int64(), (Ints{64, 191, 255}));
  const std::vector<Tensor> none = run_op("DynamicQuantizeLinear", 11, {floats({0, 0})}, {}, 3);
  EXPECT_EQ(none[1].item<float>(), 1);
  EXPECT_EQ(none[0].to_int64(), (Ints{0, 0}));
  EXPECT_THROW(run_op("DynamicQuantizeLinear", 11, {floats({})}, {}, 3), Error);
}

TEST(IntegerProducts, ZeroPointsMayDifferByRowAndColumn) {
  const Tensor a = Tensor::from<uint8_t>({2, 2}, std::vector<uint8_t>{1, 2, 3, 4});
  const Tensor b = Tensor::from<int8_t>({2, 2}, std::vector<int8_t>{1, -1, 2, -2});
  EXPECT_EQ(run_op("MatMulInteger", 10, {a, b})[0].to_int64(), (Ints{5, -5, 11, -11}));
  EXPECT_EQ(
      run_op("MatMulInteger", 10, {a, b, Tensor::vector<uint8_t>({1, 3}), Tensor::vector<int8_t>({1, -1})})[0]
          .to_int64(),
      (Ints{1, -1, 1, -1}));
  EXPECT_THROW(run_op("MatMulInteger", 10, {a, b, Tensor::vector<uint8_t>({1, 3, 4})}), Error);
}

TEST(IntegerProducts, PaddingReadsTheZeroPoint) {
  const Tensor x = Tensor::from<uint8_t>({1, 1, 2}, std::vector<uint8_t>{5, 7});
  const Tensor w = Tensor::from<uint8_t>({1, 1, 3}, std::vector<uint8_t>{2, 3, 4});
  const AttributeList pads = {{"pads", Ints{1, 1}}};
  EXPECT_EQ(run_op("ConvInteger", 10, {x, w, Tensor::scalar<uint8_t>(5), Tensor::scalar<uint8_t>(1)}, pads)[0]
                .to_int64(),
            (Ints{6, 4}));
}

TEST(IntegerProducts, QuantisedResultsRoundToEvenBeforeTheZeroPoint) {
  const Tensor one = Tensor::scalar(1.0F), zero = Tensor::scalar<uint8_t>(0);
  const Tensor x = Tensor::from<uint8_t>({1, 1, 4}, std::vector<uint8_t>{1, 3, 5, 200});
  const Tensor w = Tensor::from<uint8_t>({1, 1, 1}, std::vector<uint8_t>{1});
  // Half of 1, 3, 5, 200, and 3 more.
  EXPECT_EQ(run_op("QLinearConv", 10,
                   {x, Tensor::scalar(0.5F), zero, w, one, zero, one, Tensor::scalar<uint8_t>(3)})[0]
                .to_int64(),
            (Ints{3, 5, 5, 103}));
  const Tensor row = x.reshaped({1, 4}),
               column = Tensor::from<uint8_t>({4, 1}, std::vector<uint8_t>{1, 1, 0, 2});
  EXPECT_EQ(run_op("QLinearMatMul", 10,
                   {row, Tensor::scalar(0.5F), zero, column, one, zero, one, Tensor::scalar<uint8_t>(3)})[0]
                .to_int64(),
            (Ints{205}));
  const Tensor bias = Tensor::vector<int32_t>({1000});
  EXPECT_EQ(run_op("QLinearConv", 10, {x, one, zero, w, one, zero, one, zero, bias})[0].to_int64(),
            (Ints{255, 255, 255, 255}));
}

TEST(QuantErrors, NameTheBrokenRule) {
  const Tensor x = Tensor::from<float>({2, 3}, std::vector<float>(6, 1)), one = Tensor::scalar(1.0F);
  expect_refused(
      "QuantizeLinear", 21,
      {{{x, floats({1, 2})}, {}, "a scale of shape (2,) does not suit axis 1 of data of shape (2, 3)"},
       {{x, floats({1, 2, 3})}, {{"axis", int64_t{2}}}, "axis 2 is outside"},
       {{x, Tensor::from<float>({2, 3}, std::vector<float>(6, 1))},
        {{"block_size", int64_t{2}}},
        "does not suit blocks of 2"},
       {{x, floats({1, 2, 3})}, {{"block_size", int64_t{-1}}}, "attribute 'block_size' is -1"}});
  expect_error(
      [&] {
        run_op("QuantizeLinear", 21, {x, one, Tensor::scalar<int8_t>(0)}, {{"output_dtype", int64_t{2}}});
      },
      "attribute 'output_dtype' is 2, but the zero point is int8");
  expect_error(
      [&] {
        run_op("QuantizeLinear", 21, {x, one}, {{"output_dtype", int64_t{7}}});
      },
      "int64 is not a type to quantise to");
  const Tensor levels = Tensor::from<int8_t>({1, 2}, std::vector<int8_t>{1, 2});
  expect_refused("DequantizeLinear", 13,
                 {{{levels, floats({1, 2, 3})}, {}, "a scale of shape (3,) does not suit axis 1"},
                  {{levels, floats({1, 2}), Tensor::vector<int8_t>({0, 0, 0})}, {}, "zero point"}});
}

}  // namespace
}  // namespace assay::quantize_test
