#include "surgeon/contradiction.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "graph/clone.h"
#include "surgeon/input_shapes.h"

namespace assay::contradiction_test {
namespace {

/// x (float32 [1, 2]) -> Relu -> h -> MatMul with w (float32 [2, 3]) -> y
Model product() {
  Model m;
  m.opsets = {{"", 17}};
  Graph& g = *m.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{1, 2}));
  Value* h = g.add_value("h", Type::tensor(DType::kFloat32, Dims{1, 2}));
  Value* w = g.add_constant("w", Tensor::zeros(DType::kFloat32, Shape{2, 3}));
  Value* y = g.add_value("y", Type::tensor(DType::kFloat32, Dims{1, 3}));
  g.add_node("Relu", {x}, {h}, {}, "first");
  g.add_node("MatMul", {h, w}, {y}, {}, "product");
  g.outputs = {y};
  return m;
}

std::string refusal(const Model& before, const Model& after) {
  try {
    require_possible(before, after, "the shapes that somebody gives");
  } catch (const Error& e) {
    return e.what();
  }
  return "possible";
}

TEST(Contradiction, ShapesThatAnOperatorCannotTake) {
  const Model before = product();
  const std::shared_ptr<Model> after = clone_model(before);
  override_input_shapes(*after, {{"x", Dims{1, 5}}});
  EXPECT_EQ(refusal(before, *after),
            "the shapes that somebody gives contradict the graph: the inner extents 5 and 2 differ [at node "
            "'product' "
            "(MatMul)]. Give what that node can take, or leave it to inference.");
  EXPECT_EQ(refusal(before, before), "possible");
  override_input_shapes(*after, {{"x", Dims{Dim::symbol("n"), 2}}});
  EXPECT_EQ(refusal(before, *after), "possible");
}

TEST(Contradiction, AnOutputOfAnotherType) {
  const Model before = product();
  const std::shared_ptr<Model> after = clone_model(before);
  after->graph->outputs[0]->type = Type::tensor(DType::kInt64, Dims{1, 3});
  EXPECT_EQ(refusal(before, *after),
            "the shapes that somebody gives contradict the graph: the output 'y' is to be int64, but node "
            "'product' "
            "(MatMul) gives float32. Give what that node can take, or leave it to inference.");
}

TEST(Contradiction, WhatWasWrongBeforeIsNobodysFault) {
  Model before = product();
  before.graph->inputs[0]->type = Type::tensor(DType::kFloat32, Dims{1, 5});
  before.graph->find_value("h")->type = Type();
  const std::shared_ptr<Model> after = clone_model(before);
  override_input_shapes(*after, {{"x", Dims{1, 6}}});
  EXPECT_EQ(refusal(before, *after), "possible");
}

TEST(Contradiction, ANodeWhoseResultBecomesAnInputGoes) {
  Model m = product();
  const std::shared_ptr<Model> before = clone_model(m);
  override_input_shapes(m, {{"h", Dims{4, 2}}});
  EXPECT_EQ(m.graph->nodes().size(), 1u);
  EXPECT_EQ(refusal(*before, m), "possible");
}

}  // namespace
}  // namespace assay::contradiction_test
