#include "debug/part.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "assay/io.h"

namespace assay::debug::part_test {
namespace {

using Names = std::vector<std::string>;

/// y = Relu(Neg(x) + w), z = Abs(Neg(x)), and a branch that takes from outside.
std::shared_ptr<Model> small_model() {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type floats = Type::tensor(DType::kFloat32, Shape({2}));
  Value *x = g.add_input("x", floats), *c = g.add_input("c", Type::tensor(DType::kBool, Shape()));
  Value* w = g.add_constant("w", Tensor::vector<float>({1, 2}));
  Value *n = g.add_value("n", floats), *s = g.add_value("s", floats), *y = g.add_value("y", floats),
        *z = g.add_value("z", floats), *b = g.add_value("b", floats);
  g.add_node("Neg", {x}, {n}, {}, "neg");
  g.add_node("Add", {n, w}, {s}, {}, "add");
  g.add_node("Relu", {s}, {y}, {}, "relu");
  g.add_node("Abs", {n}, {z}, {}, "abs");
  const auto branch = [&](const char* op) {
    auto body = std::make_shared<Graph>();
    body->set_parent(&g);
    Value* out = body->add_value(std::string(op) + "_out", floats);
    body->add_node(op, {s}, {out});
    body->outputs = {out};
    return body;
  };
  g.add_node("If", {c}, {b}, {{"then_branch", branch("Sin")}, {"else_branch", branch("Cos")}}, "if");
  g.outputs = {y, z, b};
  return m;
}

Names names(const std::vector<Value*>& values) {
  Names result;
  for (const Value* v : values) result.push_back(v->name());
  return result;
}

TEST(Part, BeginsAndEndsWhereTheOthersAre) {
  const auto m = small_model();
  const auto part = part_of(*m, std::vector<size_t>{1});
  EXPECT_EQ(names(part->graph->inputs), Names{"n"});
  EXPECT_EQ(names(part->graph->outputs), Names{"s"});
  EXPECT_NE(part->graph->find_value("w"), nullptr);
  const auto all = part_of(*m, std::vector<size_t>{0, 1, 2, 3, 4});
  EXPECT_EQ(names(all->graph->inputs), (Names{"x", "c"}));
  EXPECT_EQ(names(all->graph->outputs), (Names{"y", "z", "b"}));
  // Two nodes that have nothing to do with each other.
  const auto apart = part_of(*m, std::vector<size_t>{2, 3});
  EXPECT_EQ(names(apart->graph->inputs), (Names{"s", "n"}));
}

TEST(Part, WhatBodiesTakeFromOutsideComesAlong) {
  const auto m = small_model();
  const auto part = part_of(*m, std::vector<size_t>{4});
  EXPECT_EQ(names(part->graph->inputs), (Names{"c", "s"}));
  EXPECT_EQ(names(part->graph->outputs), Names{"b"});
  // The user of s is inside the If.
  EXPECT_EQ(names(part_of(*m, std::vector<size_t>{1, 2})->graph->outputs), (Names{"s", "y"}));
  EXPECT_NO_THROW(serialize_model(*part));
}

TEST(Part, AValueWithoutATypeCannotBeAnEnd) {
  const auto m = small_model();
  m->graph->find_value("n")->type = {};
  EXPECT_THROW(part_of(*m, std::vector<size_t>{1}), Error);
  EXPECT_NO_THROW(part_of(*m, std::vector<size_t>{0, 1, 3}));
}

TEST(Part, CutCostsCountWhatCrosses) {
  EXPECT_EQ(cut_costs(*small_model()->graph), (std::vector<size_t>{0, 1, 2, 2, 1}));
}

}  // namespace
}  // namespace assay::debug::part_test
