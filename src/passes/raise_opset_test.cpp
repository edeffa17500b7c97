#include <gtest/gtest.h>

#include <algorithm>

#include "graph/clone.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::raise_opset_test {
namespace {

using Ints = std::vector<int64_t>;

/// 0, 1, 2, ... less a third.
Tensor counted(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i) - 1.0F / 3;
  return t;
}

/// A model of one node; inputs from `constants` on are initializers.
struct OneNode {
  OneNode(const char* op, int64_t opset, std::vector<Tensor> inputs, AttributeList attributes = {},
          size_t outputs = 1, size_t constants = SIZE_MAX) {
    model->opsets = {{"", opset}};
    Graph& g = *model->graph;
    std::vector<Value*> in, out;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = "in" + std::to_string(i);
      if (i >= constants) {
        in.push_back(g.add_constant(name, inputs[i]));
        continue;
      }
      in.push_back(g.add_input(name, Type::tensor(inputs[i].dtype(), inputs[i].shape())));
      feed.push_back(inputs[i]);
    }
    for (size_t i = 0; i < outputs; ++i) out.push_back(g.add_value("out" + std::to_string(i)));
    g.add_node(op, in, out, std::move(attributes));
    g.outputs = out;
    infer_shapes(*model);
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
  std::vector<Tensor> feed;
};

std::vector<Tensor> evaluate(const std::shared_ptr<Model>& model, const std::vector<Tensor>& feed) {
  std::vector<Tensor> out(model->graph->outputs.size());
  Interpreter(model).run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
    for (size_t i = 0; i < out.size(); ++i)
      if (model->graph->outputs[i] == &v) out[i] = lanes[0];
  });
  return out;
}

void expect_same_meaning(const OneNode& before) {
  const std::shared_ptr<Model> after = clone_model(*before.model);
  EXPECT_TRUE(pass_raise_opset::def.run(*after));
  EXPECT_EQ(after->opset(""), 7);
  infer_shapes(*after);
  const std::vector<Tensor> a = evaluate(before.model, before.feed), b = evaluate(after, before.feed);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i].identical(b[i])) << before.model->graph->nodes()[0]->op_type << " output " << i;
}

TEST(RaiseOpset, BroadcastFromAnAxis) {
  const Tensor a = counted({2, 3, 4});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Greater", "Less"}) {
    expect_same_meaning({op, 6, {a, counted({2})}, {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}});
    expect_same_meaning({op, 6, {a, counted({3})}, {{"broadcast", int64_t{1}}, {"axis", int64_t{-2}}}});
    expect_same_meaning({op, 6, {a, counted({3, 4})}, {{"broadcast", int64_t{1}}}});
    expect_same_meaning({op, 6, {a, a}});
  }
}

TEST(RaiseOpset, Channels) {
  expect_same_meaning({"PRelu", 6, {counted({2, 3, 4}), counted({3})}});
  expect_same_meaning({"PRelu", 6, {counted({2, 3}), counted({3})}});
  expect_same_meaning({"PRelu", 1, {counted({2, 3, 4}), counted({1})}});
  expect_same_meaning({"BatchNormalization",
                       6,
                       {counted({2, 3, 4}), counted({3}), counted({3}), counted({3}), counted({3})},
                       {{"is_test", int64_t{1}}, {"epsilon", 1.0F}}});
  expect_same_meaning({"BatchNormalization",
                       6,
                       {counted({2, 3, 4}), counted({3}), counted({3}), counted({3}), counted({3})},
                       {},
                       5});
}

TEST(RaiseOpset, AttributesOfOtherNamesAndKinds) {
  const Tensor image = counted({1, 2, 3, 4});
  expect_same_meaning({"Cast", 5, {image}, {{"to", std::string("INT64")}}});
  expect_same_meaning({"Concat", 3, {image, image}});
  expect_same_meaning({"Dropout", 6, {image}, {{"is_test", int64_t{1}}}});
  expect_same_meaning(
      {"Gemm", 6, {counted({2, 3}), counted({3, 4}), counted({4})}, {{"broadcast", int64_t{1}}}});
  expect_same_meaning({"GlobalLpPool", 1, {image}, {{"p", 3.0F}}});
  expect_same_meaning({"Pad", 1, {image}, {{"paddings", Ints{0, 0, 1, 0, 0, 0, 0, 2}}}});
  expect_same_meaning({"Relu", 1, {image}, {{"consumed_inputs", Ints{0}}}});
  expect_same_meaning({"Reshape", 1, {image}, {{"shape", Ints{0, -1, 2}}}});
  expect_same_meaning({"Selu", 1, {image}});
  expect_same_meaning(
      {"Split", 1, {image, Tensor::vector(std::vector<float>{1, 3})}, {{"axis", int64_t{3}}}, 2, 1});
  expect_same_meaning({"Tile",
                       1,
                       {image, Tensor::vector(std::vector<float>{3}), Tensor::vector(std::vector<float>{2})},
                       {},
                       1,
                       1});
  expect_same_meaning({"Upsample", 6, {image}, {{"height_scale", 2.0F}, {"width_scale", 1.5F}}});
}

TEST(RaiseOpset, Recurrence) {
  const std::vector<Tensor> in = {counted({2, 1, 3}), counted({1, 6, 3}), counted({1, 6, 2})};
  expect_same_meaning({"GRU", 1, in, {{"output_sequence", int64_t{1}}, {"hidden_size", int64_t{2}}}, 2});
}

TEST(RaiseOpset, WhatHasNoEquivalentIsRefusedByName) {
  const OneNode dropout("Dropout", 6, {counted({3})});
  try {
    pass_raise_opset::def.run(*dropout.model);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_STREQ(
        e.what(),
        "(Dropout) producing 'out0': the input 'training_mode', which makes it drop elements at random, has "
        "no equivalent in opset 7; the nearest that has it is 12. Run it on the reference, or convert the "
        "model.");
  }
}

TEST(RaiseOpset, NewerModelsStay) {
  const OneNode relu("Relu", 7, {counted({3})});
  EXPECT_FALSE(pass_raise_opset::def.run(*relu.model));
  EXPECT_EQ(relu.model->opset(""), 7);
}

}  // namespace
}  // namespace assay::raise_opset_test
