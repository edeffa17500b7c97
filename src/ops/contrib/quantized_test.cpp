// The quantized operators of com.microsoft on numbers that a reader can follow.
#include <cmath>

#include "ops/contrib/contrib_test_util.h"

namespace assay::quantized_test {
namespace {

Tensor add(const Tensor& a, const Tensor& b, double scale, int zero) {
  return run_ms("QLinearAdd", {a, real(0.5), byte(10), b, real(0.25), byte(4), real(scale), byte(zero)});
}

TEST(QLinearAdd, DequantisesAddsAndQuantises) {
  // (20 - 10) / 2 + (12 - 4) / 4 = 7, (250 - 10) / 2 + 2 = 122, -5 + 2 = -3.
  const Tensor a = bytes({3}, {20, 250, 0}), b = bytes({1}, {12});
  EXPECT_EQ(add(a, b, 1, 100).to_int64(), (Ints{107, 222, 97}));
  // Ties go to even, and what leaves the range saturates.
  EXPECT_EQ(add(a, b, 2, 0).to_int64(), (Ints{4, 61, 0}));
  EXPECT_EQ(add(a, b, 0.25, 0).to_int64(), (Ints{28, 255, 0}));
}

TEST(QLinearMul, BroadcastsAndTakesMissingZeroPointsAs0) {
  const Tensor a = bytes({2, 1}, {2, 3}), b = bytes({3}, {1, 5, 200});
  const Tensor y = run_ms("QLinearMul", {a, real(1), {}, b, real(1), {}, real(2)});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(y.to_int64(), (Ints{1, 5, 200, 2, 8, 255}));  // 1.5 and 7.5 are ties
}

TEST(QuantizedUnary, AppliesTheFunctionToRealNumbers) {
  const Tensor x = bytes({3}, {100, 110, 90});
  const auto run = [&](const char* op, double scale, int zero) {
    return run_ms(op, {x, real(0.2), byte(100), real(scale), byte(zero)}).to_int64();
  };
  EXPECT_EQ(run("QLinearSigmoid", 1.0 / 256, 0), (Ints{128, 225, 31}));  // of 0, 2, -2
  EXPECT_EQ(run("QLinearLeakyRelu", 0.02, 50), (Ints{50, 150, 49}));     // alpha 0.01
}

TEST(QLinearSoftmax, RunsAlongTheAxisOnlySinceOpset13) {
  const Tensor x = Tensor::zeros(DType::kUInt8, {2, 3, 4});
  const auto first = [&](int64_t opset) {
    return run_ms("QLinearSoftmax", {x, real(1), byte(0), real(1.0 / 252), byte(0)},
                  {{"axis", int64_t{1}}, {"opset", opset}})
        .to_int64()[0];
  };
  EXPECT_EQ(first(13), 84);  // a third
  EXPECT_EQ(first(12), 21);  // a twelfth
}

TEST(QLinearConcat, RequantisesEveryPart) {
  const Tensor y =
      run_ms("QLinearConcat",
             {real(0.5), byte(1), bytes({2}, {3, 4}), real(1), byte(0), bytes({1}, {9}), real(2), byte(8)},
             {{"axis", int64_t{0}}});
  EXPECT_EQ(y.to_int64(), (Ints{7, 9, 5}));
}

TEST(QuantizedPools, TakeChannelsLast) {
  const Tensor second = bytes({1, 2, 2, 2}, {1, 3, 5, 7, 10, 30, 50, 70});
  const Tensor last = bytes({1, 2, 2, 2}, {1, 10, 3, 30, 5, 50, 7, 70});
  const auto run = [](const char* op, const Tensor& x, AttributeList attributes) {
    return run_ms(op, {x, real(1), byte(0), real(1), byte(0)}, std::move(attributes));
  };
  const AttributeList window = {{"kernel_shape", Ints{1, 2}}};
  EXPECT_EQ(run("QLinearAveragePool", second, window).to_int64(), (Ints{2, 6, 20, 60}));
  AttributeList turned = window;
  turned.push_back({"channels_last", int64_t{1}});
  const Tensor y = run("QLinearAveragePool", last, turned);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 1, 2}));
  EXPECT_EQ(y.to_int64(), (Ints{2, 20, 6, 60}));
  EXPECT_EQ(run("QLinearGlobalAveragePool", last, {{"channels_last", int64_t{1}}}).to_int64(), (Ints{4, 40}));
  EXPECT_EQ(run_ms("NhwcMaxPool", {last}, {{"kernel_shape", Ints{2, 2}}}).to_int64(), (Ints{7, 70}));
}

TEST(QGemm, AddsIntegersAtTheScaleOfTheProduct) {
  const Tensor a = bytes({1, 2}, {3, 5}), b = bytes({2, 2}, {1, 2, 3, 4});
  const Tensor bias = Tensor::vector<int32_t>({100, -100});
  // (3 - 1) (1 - 1) + (5 - 1) (3 - 1) = 8; (3 - 1) (2 - 1) + (5 - 1) (4 - 1) = 14.
  const Tensor y = run_ms("QGemm", {a, real(0.5), byte(1), b, real(0.5), byte(1), bias});
  EXPECT_EQ(y.dtype(), DType::kFloat32);
  EXPECT_EQ(y.data<float>()[0], 27);
  EXPECT_EQ(y.data<float>()[1], -21.5);
  EXPECT_EQ(
      run_ms("QGemm", {a, real(0.5), byte(1), b, real(0.5), byte(1), bias, real(1), byte(20)}).to_int64(),
      (Ints{47, 0}));
  // One scale for each column of B.
  const Tensor scales = Tensor::vector<float>({0.5F, 4}), zeros = bytes({2}, {1, 1});
  EXPECT_EQ(run_ms("QGemm", {a, real(0.5), byte(1), b, scales, zeros, {}, real(1), byte(0)}).to_int64(),
            (Ints{2, 28}));
}

TEST(MatMulInteger16, Wraps) {
  const Tensor a = Tensor::from<int16_t>({1, 3}, std::vector<int16_t>{32767, 32767, 32767});
  const Tensor b = Tensor::from<int16_t>({3, 1}, std::vector<int16_t>{32767, 32767, 32767});
  EXPECT_EQ(run_ms("MatMulInteger16", {a, b}).to_int64(), (Ints{3 * 32767LL * 32767LL - (1LL << 32)}));
}

TEST(DynamicQuantizeMatMul, QuantisesWhatTheRangeAsksFor) {
  // The range of A is [-1, 1.55]: 255 steps of 0.01 with the zero point 100.
  const Tensor a = Tensor::from<float>({1, 3}, std::vector<float>{-1, 1.55F, 0.014F});
  const Tensor b = bytes({3, 1}, {1, 1, 1});
  EXPECT_NEAR(run_ms("DynamicQuantizeMatMul", {a, b, real(1)}).item<double>(), 0.56, 1e-6);
}

/// Runs an operator as a noisy lane of the reference does.
Tensor perturbed(const char* op, const std::vector<Tensor>& inputs, uint64_t key) {
  const OpTestNode n(op, 1, std::vector<bool>(inputs.size(), true), {}, 1, kMsDomain);
  EvalContext c(n.node(), n.op(), n.version(), inputs);
  n.op().numerics.perturb(c, 0, key);
  return c.outputs()[0];
}

TEST(Requantizer, LetsNoiseDecideOnlyBetweenNeighbours) {
  // Of the sums, 2.5 is a tie of the quotient, the others are not.
  const std::vector<Tensor> inputs = {
      bytes({3}, {5, 4, 7}), real(0.5), byte(0), bytes({3}, {0, 0, 0}), real(1), byte(0), real(1), byte(0)};
  bool low = false, high = false;
  for (uint64_t key = 1; key < 20; ++key) {
    const Ints y = perturbed("QLinearAdd", inputs, key).to_int64();
    EXPECT_EQ(y[1], 2);
    low = low || y[0] == 2;
    high = high || y[0] == 3;
    EXPECT_TRUE(y[0] == 2 || y[0] == 3);
  }
  EXPECT_TRUE(low && high);
}

TEST(QuantizedInference, KeepsSymbols) {
  const InferInput scale = float_type({}), zero = byte_type({});
  EXPECT_EQ(infer_ms("QLinearAdd",
                     {byte_type({named("n"), 3}), scale, zero, byte_type({1, 3}), scale, zero, scale, zero}),
            "uint8[n, 3]");
  EXPECT_EQ(infer_ms("QLinearAveragePool", {byte_type({named("n"), 8, 8, 3}), scale, zero, scale, zero},
                     {{"kernel_shape", Ints{2, 2}}, {"channels_last", int64_t{1}}}),
            "uint8[n, 7, 7, 3]");
  EXPECT_EQ(infer_ms("QLinearConcat",
                     {scale, zero, byte_type({named("n"), 2}), scale, zero, byte_type({named("n"), 3}), scale,
                      zero},
                     {{"axis", int64_t{1}}}),
            "uint8[n, 5]");
  EXPECT_EQ(infer_ms("QGemm", {byte_type({named("n"), 2}), scale, zero, byte_type({4, 2}), scale, zero},
                     {{"transB", int64_t{1}}}),
            "float32[n, 4]");
}

TEST(QuantizedOperators, RefuseWhatDoesNotFit) {
  const Tensor x = bytes({2}, {1, 2}), two = Tensor::vector<float>({1, 2});
  expect_ms_refused(
      "QLinearAdd",
      {{{x, two, byte(0), x, real(1), byte(0), real(1), byte(0)}, {}, "scalar is needed"},
       {{x, real(1), byte(0), bytes({3}, {1, 2, 3}), real(1), byte(0), real(1), byte(0)}, {}, ""}});
  expect_ms_refused("QLinearConcat",
                    {{{real(1), byte(0), x, real(1)}, {{"axis", int64_t{0}}}, "threes"},
                     {{real(1), byte(0), x, real(1), byte(0)}, {{"axis", int64_t{1}}}, "axis"}});
  const Tensor m = bytes({2, 2}, {1, 2, 3, 4});
  expect_ms_refused("QGemm",
                    {{{m, real(1), byte(0), bytes({3, 1}, {1, 2, 3}), real(1), byte(0)}, {}, "inner extents"},
                     {{m, real(1), byte(0), m, real(1), byte(0), {}, real(1)}, {}, "together"}});
  expect_ms_refused(
      "QLinearSoftmax",
      {{{x, real(1), byte(0), real(1), byte(0)}, {{"opset", int64_t{13}}, {"axis", int64_t{3}}}, "axis"}});
}

}  // namespace
}  // namespace assay::quantized_test
