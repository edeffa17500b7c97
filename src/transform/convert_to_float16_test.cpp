#include "transform/convert_to_float16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "assay/error.h"
#include "base/log.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::convert_to_float16_test {
namespace {

constexpr DType kF32 = DType::kFloat32;
constexpr DType kF16 = DType::kFloat16;

/// A model with one float32 input x and room for nodes.
struct ConvertToFloat16 : testing::Test {
  ConvertToFloat16() : model(std::make_shared<Model>()), g(*model->graph) {
    model->opsets = {{"", 17}};
    g.name = "g";
    x = g.add_input("x", Type::tensor(kF32, Dims{1, 2, 4}));
  }
  Value* constant(const char* name, Shape shape, std::vector<float> values) {
    return g.add_constant(name, Tensor::from<float>(std::move(shape), values));
  }
  Value* node(const char* op, std::vector<Value*> inputs, const char* output, AttributeList attributes = {}) {
    Value* y = g.add_value(output);
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), op);
    return y;
  }
  void convert(Value* output) {
    output->type = Type::tensor(kF32);
    g.outputs = {output};
    before = evaluate();
    convert_to_float16(*model);
    infer_shapes(*model);  // throws when types do not fit
    after = evaluate();
  }
  Tensor evaluate() {
    infer_shapes(*model);
    Interpreter interpreter(model, {.precision = ReferencePrecision::kStored});
    std::vector<float> values;
    for (int i = 0; i < 8; ++i) values.push_back(static_cast<float>(i) / 8 - 0.25F);
    const Tensor feed[] = {Tensor::from<float>({1, 2, 4}, values)};
    Tensor result;
    interpreter.run(feed,
                    [&](const Value&, std::span<const Tensor> lanes) { result = to_float64(lanes[0]); });
    return result;
  }
  double distance() const {
    double most = 0;
    for (int64_t i = 0; i < before.numel(); ++i)
      most = std::max(most, std::abs(before.data<double>()[i] - after.data<double>()[i]));
    return before.shape() == after.shape() ? most : INFINITY;
  }
  DType type_of(const char* name) const {
    const Value* v = g.find_value(name);
    return v == nullptr ? DType::kUndefined : v->type.dtype;
  }
  int count(const char* op) const {
    int n = 0;
    for (const auto& node : g.nodes()) n += node->op_type == op;
    return n;
  }

  std::shared_ptr<Model> model;
  Graph& g;
  Value* x;
  Tensor before, after;
};

TEST_F(ConvertToFloat16, EverythingBetweenInputsAndOutputsBecomesHalf) {
  Value* h = node("Mul", {x, constant("w", {4}, {1.5F, -2, 0.1F, 3})}, "h");
  convert(node("Relu", {h}, "y"));
  EXPECT_EQ(type_of("x"), kF32);
  EXPECT_EQ(type_of("w"), kF16);
  EXPECT_EQ(type_of("h"), kF16);
  EXPECT_EQ(type_of("y"), kF32);
  EXPECT_EQ(count("Cast"), 2);
  EXPECT_GT(distance(), 0);
  EXPECT_LT(distance(), 1e-3);
}

TEST_F(ConvertToFloat16, OutputsThatAreAlsoUsedInside) {
  Value* h = node("Neg", {x}, "h");
  Value* y = node("Relu", {h}, "y");
  h->type = Type::tensor(kF32);
  convert(y);
  g.outputs = {y, h};
  EXPECT_LT(distance(), 1e-3);
}

TEST_F(ConvertToFloat16, WhatTheSchemaKeepsInFloat32StaysExact) {
  // Resize: X is any type, scales are float32.
  Value* scales = constant("scales", {3}, {1, 1, 2.1F});
  convert(node("Resize", {x, nullptr, scales}, "y", {{"mode", std::string("nearest")}}));
  EXPECT_EQ(type_of("scales"), kF32);
  EXPECT_EQ(g.find_value("scales")->tensor().aligned().span<float>()[2], 2.1F);
  EXPECT_EQ(after.shape(), (Shape{1, 2, 8}));
  EXPECT_LT(distance(), 1e-3);
}

TEST_F(ConvertToFloat16, AConstantInBothRolesKeepsBothForms) {
  Value* c = constant("c", {3}, {1, 1, 2.1F});
  Value* resized = node("Resize", {x, nullptr, c}, "r", {{"mode", std::string("nearest")}});
  Value* part = node("Slice",
                     {resized, g.add_constant("starts", Tensor::vector<int64_t>({0})),
                      g.add_constant("ends", Tensor::vector<int64_t>({3})),
                      g.add_constant("axes", Tensor::vector<int64_t>({2}))},
                     "p");
  convert(node("Add", {part, c}, "y"));
  EXPECT_EQ(type_of("c"), kF32);
  EXPECT_EQ(type_of("c_float16"), kF16);
  EXPECT_LT(distance(), 5e-3);
}

TEST_F(ConvertToFloat16, NodesWithoutHalfComputeBetweenCasts) {
  Value* h = node("Neg", {x}, "h");
  Value* quantized = node("QuantizeLinear", {h, constant("scale", {}, {0.05F})}, "q");
  Value* back = node("DequantizeLinear", {quantized, g.find_value("scale")}, "d");
  model->opsets = {{"", 13}};  // both know only float32 there
  convert(node("Relu", {back}, "y"));
  EXPECT_EQ(type_of("scale"), kF32);
  EXPECT_EQ(type_of("d"), kF16);
  EXPECT_LE(distance(), 0.0501);
}

TEST_F(ConvertToFloat16, ScatteringWithAReductionStaysInFloat32) {
  Value* indices = g.add_constant("i", Tensor::zeros(DType::kInt64, {1, 2, 4}));
  Value* placed = node("ScatterElements", {x, indices, x}, "placed", {{"axis", int64_t{2}}});
  convert(node("ScatterElements", {placed, indices, x}, "y",
               {{"axis", int64_t{2}}, {"reduction", std::string("add")}}));
  EXPECT_EQ(type_of("placed"), kF16);
  const Node* sum = nullptr;
  for (const auto& n : g.nodes())
    if (n->op_type == "ScatterElements" && n->find_attribute("reduction") != nullptr) sum = n.get();
  ASSERT_NE(sum, nullptr);
  for (const size_t i : {0, 2}) EXPECT_EQ(sum->input(i)->type.dtype, kF32);
  EXPECT_EQ(sum->output(0)->type.dtype, kF32);
  EXPECT_LT(distance(), 1e-3);
}

struct VarianceInHalf : ConvertToFloat16, testing::WithParamInterface<float> {};

TEST_P(VarianceInHalf, BeyondNormalNumbersStaysInFloat32) {
  Value *scale = constant("scale", {2}, {std::sqrt(GetParam()), 1}), *zero = constant("zero", {2}, {0, 0}),
        *variance = constant("variance", {2}, {GetParam(), 1});
  convert(node("BatchNormalization", {x, scale, zero, zero, variance}, "y", {{"epsilon", 1e-10F}}));
  EXPECT_EQ(variance->type.dtype, kF32);
  EXPECT_LT(distance(), 1e-3);
}

TEST_P(VarianceInHalf, AlsoOfConstantNodes) {
  const auto constant_node = [&](const char* name, float first, float second) {
    return node("Constant", {}, name, {{"value", UnalignedTensor(Tensor::vector<float>({first, second}))}});
  };
  Value *scale = constant_node("scale", std::sqrt(GetParam()), 1), *zero = constant_node("zero", 0, 0),
        *variance = constant_node("variance", GetParam(), 1);
  convert(node("BatchNormalization", {x, scale, zero, zero, variance}, "y", {{"epsilon", 1e-10F}}));
  EXPECT_LT(distance(), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(TooSmallAndTooLarge, VarianceInHalf, testing::Values(3.3e-7F, 1e8F));

TEST_F(ConvertToFloat16, TypesThatAttributesName) {
  Value* shape = node("Shape", {x}, "shape");
  Value* zeros = node("ConstantOfShape", {shape}, "zeros");
  Value* ints = node("Cast", {x}, "ints", {{"to", static_cast<int64_t>(DType::kInt32)}});
  Value* floats = node("Cast", {ints}, "floats", {{"to", static_cast<int64_t>(kF32)}});
  Value* half = node("Constant", {}, "half", {{"value_float", 0.5F}});
  Value* list = node("Constant", {}, "list", {{"value", Tensor::vector<float>({1, 2, 3, 4})}});
  convert(node("Sum", {x, zeros, floats, half, list}, "y"));
  for (const char* name : {"zeros", "floats", "half", "list"}) EXPECT_EQ(type_of(name), kF16) << name;
  EXPECT_EQ(type_of("ints"), DType::kInt32);
  EXPECT_LT(distance(), 1e-2);
}

TEST_F(ConvertToFloat16, ExtremeWeightsStayFiniteAndPositive) {
  log::Capture capture;
  Value* w = constant("w", {4}, {-1e9F, 1e-12F, INFINITY, 70000});
  convert(node("Min", {x, w}, "y"));
  const Tensor half = assay::convert(g.find_value("w")->tensor().aligned(), kF32);
  EXPECT_EQ(half.span<float>()[0], -65504);
  EXPECT_EQ(half.span<float>()[1], 0x1p-24F);
  EXPECT_EQ(half.span<float>()[2], INFINITY);
  EXPECT_EQ(half.span<float>()[3], 65504);
  EXPECT_EQ(
      capture.out(),
      "[W] 2 weight(s) are beyond float16's range and became its largest number, 65504: 'w' of 'Min' (Min) "
      "(-1e+09).\n"
      "[W] 1 weight(s) are too small for float16 and became its smallest number, 5.9604645e-08: 'w' of 'Min' "
      "(Min) (1e-12).\n");
}

/// Every way to write a number that float16 does not have.
TEST_F(ConvertToFloat16, ConstantsOfEveryFormStayFinite) {
  log::Capture capture;
  const float low = -3.4028235e38F;
  const auto add = [&](const char* op, const char* output, AttributeList attributes,
                       std::vector<Value*> inputs = {}) {
    return node(op, std::move(inputs), output, std::move(attributes));
  };
  const Attribute::Sparse sparse{Tensor::vector<float>({low, 1e-30F}), Tensor::vector<int64_t>({0, 2}), {4}};
  Value* wide = g.add_constant("wide", Tensor::scalar<double>(-1e300));
  std::vector<Value*> all = {x,
                             add("Constant", "a", {{"value", Tensor::scalar(low)}}),
                             add("Constant", "b", {{"value_float", low}}),
                             add("Constant", "c", {{"value_floats", std::vector<float>{low, 1, 2, 1e9F}}}),
                             add("Constant", "d", {{"sparse_value", sparse}}),
                             add("ConstantOfShape", "e", {{"value", Tensor::vector<float>({low})}},
                                 {g.add_constant("four", Tensor::vector<int64_t>({4}))}),
                             add("Cast", "f", {{"to", int64_t{1}}}, {wide})};
  Value* least = all[1];
  for (size_t i = 2; i < all.size(); ++i)
    least = node("Add", {least, node("Relu", {all[i]}, ("r" + std::to_string(i)).c_str())},
                 ("s" + std::to_string(i)).c_str());
  convert(node("Max", {x, least}, "y"));
  EXPECT_TRUE(std::all_of(after.span<double>().begin(), after.span<double>().end(),
                          [](double v) { return std::isfinite(v); }));
  for (const char* name : {"a", "b", "c", "d", "e"}) EXPECT_EQ(type_of(name), kF16) << name;
  EXPECT_NE(capture.out().find("(-3.4028235e+38)"), std::string::npos) << capture.out();
  EXPECT_NE(capture.out().find("(1e-30)"), std::string::npos) << capture.out();
}

TEST_F(ConvertToFloat16, AMaskBeforeASoftmaxMakesNoNaN) {
  log::Capture capture;
  Value* keep = constant("keep", {4}, {1, 0, 1, 0});
  Value* inverse = node("Sub", {constant("one", {}, {1}), keep}, "inverse");
  Value* sentinel = node("Constant", {}, "sentinel", {{"value", Tensor::scalar(-3.4028235e38F)}});
  Value* bias = node("Mul", {inverse, sentinel}, "bias");
  convert(node("Softmax", {node("Add", {x, bias}, "masked")}, "y", {{"axis", int64_t{-1}}}));
  EXPECT_LT(distance(), 1e-3);
}

TEST_F(ConvertToFloat16, AttributesThatBecomeElementsStayFinite) {
  log::Capture capture;
  model->opsets = {{"", 10}};
  Value* padded =
      node("Pad", {x}, "padded", {{"pads", std::vector<int64_t>{0, 0, 0, 0, 0, 1}}, {"value", -1e30F}});
  convert(node("Clip", {padded}, "y", {{"min", -3e38F}, {"max", 3e38F}}));
  EXPECT_TRUE(std::all_of(after.span<double>().begin(), after.span<double>().end(),
                          [](double v) { return std::isfinite(v); }));
  EXPECT_NE(capture.out().find("value of 'Pad' (Pad) (-1e+30)"), std::string::npos) << capture.out();
}

TEST_F(ConvertToFloat16, NewNodesAndValuesGetNamesThatNobodyHas) {
  Value* h = g.add_value("x_float16");
  g.add_node("Neg", {x}, {h}, {}, "x_float16_cast");
  Value* q = g.add_value("y_float16");
  g.add_node("Abs", {h}, {q}, {}, "y_cast");
  convert(node("Relu", {q}, "y"));
  std::set<std::string> names;
  for (const auto& n : g.nodes()) EXPECT_TRUE(names.insert(n->name).second) << n->name;
  EXPECT_TRUE(names.contains("y_cast"));
  EXPECT_EQ(count("Cast"), 2);
  EXPECT_LT(distance(), 1e-3);
}

TEST_F(ConvertToFloat16, WhatCannotBeConvertedIsNamed) {
  Value* y = g.add_value("mystery");
  g.add_node("Frobnicate", {x}, {y}, {}, "n", "com.nobody");
  Value* z = node("Relu", {y}, "z");
  g.outputs = {z};
  try {
    convert_to_float16(*model);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "the type of 'mystery' is not known, so the model cannot be converted to float16");
  }
}

TEST_F(ConvertToFloat16, SequencesInsideBecomeHalf) {
  Value* pieces = node("SplitToSequence", {x}, "pieces", {{"axis", int64_t{2}}});
  convert(node("ConcatFromSequence", {pieces}, "y", {{"axis", int64_t{1}}}));
  EXPECT_EQ(pieces->type.element->dtype, kF16);
  EXPECT_TRUE(after.identical(before));
}

TEST_F(ConvertToFloat16, SequencesAsOutputsAreRefused) {
  g.outputs = {node("SplitToSequence", {x}, "pieces")};
  infer_shapes(*model);
  EXPECT_THROW(convert_to_float16(*model), Error);
}

}  // namespace
}  // namespace assay::convert_to_float16_test
