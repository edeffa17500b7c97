#include "graph/clone.h"

#include <gtest/gtest.h>

#include "graph/export.h"
#include "graph/read.h"

namespace assay::clone_test {
namespace {

/// y = If(c, x + w, x), with a subgraph that captures x and the constant w.
std::shared_ptr<Model> conditional_model() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}};
  Graph& g = *model->graph;
  g.name = "g";
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{2}));
  Value* c = g.add_input("c", Type::tensor(DType::kBool, Shape{}));
  Value* w = g.add_constant("w", Tensor::vector<float>({1, 2}));
  w->metadata = {{"key", "text"}};
  const auto branch = [&](const char* name, bool adds) {
    auto sub = std::make_shared<Graph>();
    sub->name = name;
    sub->set_parent(&g);
    Value* y = sub->add_value(std::string(name) + "_y", Type::tensor(DType::kFloat32, Shape{2}));
    if (adds)
      sub->add_node("Add", {x, w}, {y}, {}, "add");
    else
      sub->add_node("Identity", {x}, {y}, {}, "same");
    sub->outputs = {y};
    return sub;
  };
  Value* y = g.add_value("y", Type::tensor(DType::kFloat32, Shape{2}));
  Node* n = g.add_node("If", {c}, {y},
                       {{"then_branch", branch("then", true)}, {"else_branch", branch("else", false)}}, "if");
  n->metadata = {{"a", "b"}};
  g.outputs = {y};
  return model;
}

TEST(Clone, AModelIsCopiedWholeAndApart) {
  const auto model = conditional_model();
  const std::string before = serialize_model(*model);
  const auto copy = clone_model(*model);
  EXPECT_EQ(serialize_model(*copy), before);
  EXPECT_EQ(copy->graph->find_value("w")->tensor().data(), model->graph->find_value("w")->tensor().data());
  // Captured values belong to the copy.
  for (const auto& v : copy->graph->values())
    for (const Node* n : v->consumers())
      EXPECT_TRUE(&n->graph() == copy->graph.get() || n->graph().parent() == copy->graph.get());
  copy->graph->find_value("x")->rename("other");
  copy->graph->nodes()[0]->op_type = "Changed";
  EXPECT_EQ(serialize_model(*model), before);
}

TEST(Clone, WhatASubgraphCapturesIsCopiedIntoTheGraphAroundIt) {
  const auto model = conditional_model();
  Graph into;
  ValueMap map;
  const Node* copy = clone_node(*model->graph->nodes()[0], into, map);
  for (const char* name : {"x", "w", "c", "y"}) EXPECT_NE(into.find_value(name), nullptr) << name;
  for (const Graph* sub : subgraphs_of(*copy)) EXPECT_EQ(sub->find_value("w"), nullptr);
}

}  // namespace
}  // namespace assay::clone_test
