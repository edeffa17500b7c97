#include "engine/specialize/shape_values.h"

#include <gtest/gtest.h>

#include "assay/edit.h"
#include "ops/infer.h"

namespace assay::engine::shape_values_test {
namespace {

class ShapeValuesTest : public testing::Test {
 protected:
  ShapeValuesTest() { model.opsets = {{"", 18}}; }
  Value* input(const std::string& name, DType dtype, const Shape& shape) {
    return g.add_input(name, Type::tensor(dtype, shape));
  }
  Value* op(std::string type, std::vector<Value*> inputs, AttributeList attributes = {}) {
    const LayerArguments arguments(inputs.begin(), inputs.end());
    return layer(g, std::move(type), arguments, {"y"}, {.attributes = std::move(attributes)})[0];
  }
  std::vector<size_t> run() {
    infer_shapes(model);
    return shape_value_inputs(model);
  }

  Model model;
  Graph& g = *model.graph;
};

TEST_F(ShapeValuesTest, ATargetShapeDecides) {
  Value* x = input("x", DType::kFloat32, {2, 6});
  Value* shape = input("shape", DType::kInt64, {2});
  g.outputs = {op("Relu", {op("Reshape", {x, shape})})};
  EXPECT_EQ(run(), (std::vector<size_t>{1}));
}

TEST_F(ShapeValuesTest, SoDoesWhatATargetShapeIsComputedFrom) {
  Value* x = input("x", DType::kFloat32, {1, 6});
  Value* n = input("n", DType::kInt64, {1});
  Value* two = g.add_constant("two", Tensor::vector<int64_t>({2}));
  g.outputs = {op("Expand", {x, op("Concat", {op("Mul", {n, two}), n}, {{"axis", int64_t{0}}})})};
  EXPECT_EQ(run(), (std::vector<size_t>{1}));
}

TEST_F(ShapeValuesTest, IndicesDoNot) {
  Value* x = input("x", DType::kFloat32, {100, 8});
  Value* ids = input("ids", DType::kInt64, {1, 4});
  g.outputs = {op("Gather", {x, op("Add", {ids, g.add_constant("one", Tensor::vector<int64_t>({1}))})})};
  EXPECT_TRUE(run().empty());
}

TEST_F(ShapeValuesTest, WhatIsComputedFromALargeTensorCannotBeKnownBefore) {
  Value* mask = input("mask", DType::kInt64, {1, 1000});
  Value* x = input("x", DType::kFloat32, {1, 8});
  Value* length = op("ReduceSum", {mask}, {{"keepdims", int64_t{0}}});
  Value* shape = op("Unsqueeze", {length, g.add_constant("zero", Tensor::vector<int64_t>({0}))});
  g.outputs = {op("Expand", {x, op("Concat", {shape, g.add_constant("eight", Tensor::vector<int64_t>({8}))},
                                   {{"axis", int64_t{0}}})})};
  EXPECT_TRUE(run().empty());
}

}  // namespace
}  // namespace assay::engine::shape_values_test
