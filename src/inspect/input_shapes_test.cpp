#include "inspect/input_shapes.h"

#include <gtest/gtest.h>

#include "inspect/inspect_test_util.h"

namespace assay::input_shapes_test {
namespace {

TestModel two_inputs() {
  TestModel m;
  m.input("x[0]", {Dim::symbol("n"), 2});
  m.input("other", {3});
  m.node("Relu", {"x[0]"}, {"y"});
  m.output("y", {Dim::symbol("n"), 2});
  return m;
}

TEST(InputShapesTest, NamesAndPatterns) {
  const TestModel m = two_inputs();
  set_input_shape(*m.model, "x[0]", {5, 2});
  EXPECT_EQ(m.graph->inputs[0]->type.str(), Type::tensor(DType::kFloat32, Dims{5, 2}).str());
  EXPECT_FALSE(m.graph->outputs[0]->type.has_shape());
  EXPECT_EQ(m.graph->outputs[0]->type.dtype, DType::kFloat32);
  set_input_shape(*m.model, "oth*", {4});
  EXPECT_EQ(m.graph->inputs[1]->type.dims->front().value(), 4);
}

TEST(InputShapesTest, WhatCannotBeIsAnError) {
  const TestModel m = two_inputs();
  const auto message = [&](const std::string& name, const Dims& dims) {
    try {
      set_input_shape(*m.model, name, dims);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(message("z", {1}), "the model has no input 'z'; its inputs are 'x[0]', 'other'");
  EXPECT_EQ(message("other", {1, 2}), "the input 'other' has 1 dimensions, not 2");
}

}  // namespace
}  // namespace assay::input_shapes_test
