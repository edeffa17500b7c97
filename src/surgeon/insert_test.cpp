#include "surgeon/insert.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::insert_test {
namespace {

using Names = std::vector<std::string>;

/// X -> i0 -> Y, two Identity nodes.
std::shared_ptr<Model> chain() {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type type = Type::tensor(DType::kFloat32, Shape({2}));
  Value* x = g.add_input("X", type);
  Value *i = g.add_value("i0", type), *y = g.add_value("Y", type);
  g.add_node("Identity", {x}, {i}, {}, "first");
  g.add_node("Identity", {i}, {y}, {}, "second");
  g.outputs = {y};
  return m;
}

std::string text(const Graph& g) {
  std::string out;
  for (const auto& n : g.nodes()) {
    out += n->op_type + "(";
    for (const Value* v : n->inputs()) out += v->name() + " ";
    out += "->";
    for (const Value* v : n->outputs()) out += v != nullptr ? " " + v->name() : " -";
    out += ") ";
  }
  return out;
}

TEST(Insert, NamesMayBePatterns) {
  const auto m = chain();
  Value* z = m->graph->add_value("i1", m->graph->find_value("i0")->type);
  m->graph->add_node("Relu", {m->graph->find_value("X")}, {z}, {}, "third");
  insert_node(*m, {"Two", "t", "", {"i?"}, {"Y"}, {}});
  EXPECT_EQ(text(*m->graph), "Identity(X -> i0) Relu(X -> i1) Two(i0 i1 -> Y) ");
}

TEST(Insert, BetweenTwoNodes) {
  const auto m = chain();
  insert_node(*m, {"FakeOp", "f", "", {"i0"}, {"i0"}, {}});
  EXPECT_EQ(text(*m->graph),
            "Identity(X -> i0) FakeOp(i0 -> i0_polygraphy_surgeon_insert_output) "
            "Identity(i0_polygraphy_surgeon_insert_output -> Y) ");
}

TEST(Insert, AtAnOutputTheNameStays) {
  const auto m = chain();
  insert_node(*m, {"FakeOp", "", "", {"Y"}, {"Y"}, {}});
  EXPECT_EQ(text(*m->graph),
            "Identity(X -> i0) Identity(i0 -> Y_polygraphy_surgeon_insert_output) "
            "FakeOp(Y_polygraphy_surgeon_insert_output -> Y) ");
  EXPECT_EQ(m->graph->outputs[0]->name(), "Y");
  EXPECT_EQ(m->graph->outputs[0]->type.str(), "float32[2]");
}

TEST(Insert, AtAnInput) {
  const auto m = chain();
  insert_node(*m, {"FakeOp", "", "", {"X"}, {"X"}, {}});
  EXPECT_EQ(text(*m->graph),
            "FakeOp(X -> X_polygraphy_surgeon_insert_output) "
            "Identity(X_polygraphy_surgeon_insert_output -> i0) Identity(i0 -> Y) ");
}

TEST(Insert, ReplacesWhatLiesBetween) {
  const auto m = chain();
  insert_node(*m, {"FakeOp", "", "", {"X"}, {"Y"}, {{"axis", int64_t{1}}}});
  EXPECT_EQ(text(*m->graph), "FakeOp(X -> Y) ");
  EXPECT_EQ(*m->graph->nodes()[0]->find_attribute("axis")->get_if<int64_t>(), 1);
}

TEST(Insert, RefusesACycle) {
  const auto m = chain();
  try {
    insert_node(*m, {"FakeOp", "fake", "", {"Y"}, {"i0"}, {}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cycle"), std::string::npos) << e.what();
  }
}

TEST(Insert, SuggestsNames) {
  const auto m = chain();
  try {
    insert_node(*m, {"FakeOp", "", "", {"i1"}, {"Y"}, {}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "Tensor: i1 does not exist in the model. Did you mean 'i0'?");
  }
}

/// A file that no runtime could read would be written.
TEST(Insert, AnOperatorTakesOnlyItsTypes) {
  const auto m = chain();
  Type map;
  map.kind = Type::Kind::kMap;
  map.dtype = DType::kInt64;
  map.element = std::make_shared<const Type>(Type::tensor(DType::kFloat32, Shape()));
  Type maps;
  maps.kind = Type::Kind::kSequence;
  maps.element = std::make_shared<const Type>(map);
  m->graph->find_value("Y")->type = maps;
  const InsertedNode identity{
      .op_type = "Identity", .name = {}, .domain = {}, .inputs = {"Y"}, .outputs = {"Y"}, .attributes = {}};
  try {
    insert_node(*m, identity);
    FAIL() << "it was inserted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("is of type seq(map(int64, float))"), std::string::npos) << e.what();
  }
  InsertedNode own = identity;
  own.op_type = "MyOwn";
  EXPECT_NO_THROW(insert_node(*m, own)) << "nobody knows what it takes";
}

}  // namespace
}  // namespace assay::insert_test
