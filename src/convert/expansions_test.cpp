// Each expansion computes the same as its operator.
#include "convert/convert_test_util.h"

namespace assay::expansions_test {
namespace {

/// The formulas differ in the last places: float attributes for irrational constants, other orders of
/// operations.
constexpr double kClose = 1e-12, kFloatConstants = 1e-6;

const Tensor kX = mixed({2, 3, 4});

TEST(Expansions, Activations) {
  expect_same({"Celu", 12, {kX}, {{"alpha", 0.7F}}}, 8, {}, kClose);
  expect_same({"Gelu", 20, {kX}}, 13, {}, kFloatConstants);
  expect_same({"Gelu", 20, {mixed({5}, DType::kFloat64)}, {{"approximate", std::string("tanh")}}}, 9, {},
              kClose);
  expect_same({"HardSwish", 14, {kX}}, 7, {"HardSigmoid", "Mul"}, kFloatConstants);
  expect_same({"Mish", 18, {kX}}, 7, {"Softplus", "Tanh", "Mul"}, kClose);
  expect_same({"Swish", 24, {kX}, {{"alpha", 1.5F}}}, 13, {}, kClose);
  expect_same({"SwiGLU", 28, {kX, kX}}, 7, {"Sigmoid", "Mul", "Mul"}, kClose);
  expect_same({"ThresholdedRelu", 10, {kX}, {{"alpha", 0.5F}}}, 9);
}

TEST(Expansions, Normalizations) {
  const Tensor scale = counted({4}), bias = mixed({4});
  expect_same({"LayerNormalization", 17, {kX, scale, bias}}, 13, {}, kClose);
  expect_same({"LayerNormalization", 17, {kX, counted({3, 4})}, {{"axis", int64_t{1}}}, 3}, 7, {}, kClose);
  expect_same({"RMSNormalization", 23, {kX, scale}}, 11, {}, kClose);
  expect_same({"GroupNormalization",
               18,
               {mixed({2, 6, 3}), counted({3}), counted({3})},
               {{"num_groups", int64_t{3}}}},
              7, {}, kClose);
  expect_same({"MeanVarianceNormalization", 9, {mixed({2, 3, 4, 5})}}, 8, {}, kFloatConstants);
}

TEST(Expansions, Forms) {
  const Tensor nan = floats({1, NAN, 3}), other = floats({2, 1, 3});
  expect_same({"GreaterOrEqual", 16, {nan, other}}, 11, {"Greater", "Equal", "Or"});
  expect_same({"LessOrEqual", 12, {nan, other}}, 11, {"Less", "Equal", "Or"});
  expect_same({"CastLike", 19, {kX, int64s({1})}}, 9, {"Cast"});
  expect_same({"DynamicQuantizeLinear", 11, {kX}, {}, 3}, 10, {}, kFloatConstants);
  expect_same({"DynamicQuantizeLinear", 11, {Tensor::zeros(DType::kFloat32, {4})}, {}, 3}, 10);
  for (const int64_t upper : {0, 1}) {
    expect_same({"Trilu", 14, {kX}, {{"upper", upper}}}, 11);
    expect_same({"Trilu", 14, {kX, fixed(Tensor::scalar(int64_t{-1}))}, {{"upper", upper}}}, 13);
    expect_same({"Trilu", 14, {kX, fixed(Tensor::scalar(int64_t{1}))}, {{"upper", upper}}}, 11);
  }
}

TEST(Expansions, WhatThereIsNoneOfIsNamed) {
  EXPECT_EQ(refusal({"Det", 11, {mixed({2, 2})}}, 10),
            "'node' (Det): the operator Det has no equivalent in opset 10; the nearest that has it is 11.");
  // The operators of its expansion are missing, too.
  EXPECT_EQ(refusal({"Gelu", 20, {kX}}, 7),
            "'node' (Gelu): the operator Erf has no equivalent in opset 7; the nearest that has it is 9.");
  EXPECT_EQ(refusal({"CastLike", 15, {kX, Tensor::scalar(std::string("a"))}}, 7),
            "'node' (CastLike): the operator CastLike, of which Cast would do part of the work with the "
            "output 'output' "
            "of type string, has no equivalent in opset 7; the nearest that has it is 9.");
}

}  // namespace
}  // namespace assay::expansions_test
