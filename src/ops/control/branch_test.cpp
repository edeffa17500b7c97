// How a broken rule inside a branch affects the model, and how inference sees sequences through subgraphs.
#include <gtest/gtest.h>

#include "ops/infer.h"
#include "ops/value_type.h"

namespace assay::branch_test {
namespace {

Type floats(Dims dims) { return Type::tensor(DType::kFloat32, std::move(dims)); }

/// y = If(c) over x of five elements. A branch that is not fine splits the five into four pieces of two.
struct Conditional {
  explicit Conditional(bool then_is_fine, bool else_is_fine, std::optional<bool> condition = {}) {
    model.opsets = {{"", 18}};
    Graph& g = *model.graph;
    x = g.add_input("x", floats({5}));
    Value* c = condition ? g.add_constant("c", Tensor::scalar(*condition))
                         : g.add_input("c", Type::tensor(DType::kBool, Dims()));
    y = g.add_value("y");
    g.add_node("If", {c}, {y},
               {{"then_branch", branch("then", then_is_fine)}, {"else_branch", branch("else", else_is_fine)}},
               "if");
    g.outputs = {y};
  }

  std::shared_ptr<Graph> branch(const std::string& name, bool is_fine) {
    auto sub = std::make_shared<Graph>();
    sub->set_parent(model.graph.get());
    std::vector<Value*> pieces;
    const size_t count = is_fine ? 5 : 4;
    for (size_t i = 0; i < count; ++i) pieces.push_back(sub->add_value(name + std::to_string(i)));
    sub->add_node("Split", {x}, pieces, {{"num_outputs", static_cast<int64_t>(count)}}, name);
    sub->outputs = {pieces[0]};
    return sub;
  }

  Model model;
  Value *x, *y;
};

TEST(Branch, OneThatIsNotTakenMayBreakRules) {
  Conditional taken(true, false, true);
  infer_shapes(taken.model);
  EXPECT_EQ(taken.y->type.str(), "float32[1]");
  Conditional other(false, true, false);
  infer_shapes(other.model);
  EXPECT_EQ(other.y->type.str(), "float32[1]");
}

TEST(Branch, OneThatIsTakenMayNot) {
  Conditional taken(false, true, true);
  EXPECT_THROW(infer_shapes(taken.model), Error);
  Conditional other(true, false, false);
  EXPECT_THROW(infer_shapes(other.model), Error);
}

TEST(Branch, WithoutKnowingTheConditionOneMustBeFine) {
  for (const bool then_is_fine : {true, false}) {
    Conditional one(then_is_fine, !then_is_fine);
    EXPECT_NO_THROW(infer_shapes(one.model));
    EXPECT_EQ(one.y->type.kind, Type::Kind::kUnknown);
  }
  Conditional both(true, true);
  infer_shapes(both.model);
  EXPECT_EQ(both.y->type.str(), "float32[1]");
  Conditional none(false, false);
  try {
    infer_shapes(none.model);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'then' (Split)"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("'if' (If)"), std::string::npos) << e.what();
  }
}

TEST(Branch, EveryProblemIsReported) {
  Conditional one(true, false, true);
  std::vector<std::string> nodes;
  infer_shapes(one.model,
               {.on_problem = [&](const Node& n, const std::string&) { nodes.push_back(n.name); }});
  EXPECT_EQ(nodes, (std::vector<std::string>{"else"}));
}

TEST(Branch, SubgraphsNestOnlySoDeep) {
  Model model;
  model.opsets = {{"", 18}};
  Value* c = model.graph->add_input("c", Type::tensor(DType::kBool, Dims()));
  Graph* g = model.graph.get();
  for (int i = 0; i < 10000; ++i) {
    auto sub = std::make_shared<Graph>();
    sub->set_parent(g);
    g->add_node("If", {c}, {g->add_value("y")},
                {{"then_branch", sub}, {"else_branch", std::make_shared<Graph>()}});
    g = sub.get();
  }
  EXPECT_THROW(infer_shapes(model), Error);
}

TEST(Subgraph, FunctionCallsAreCounted) {
  Model model;
  model.opsets = {{"", 18}, {"d", 1}};
  for (int i = 0; i < 40; ++i) {
    Function& f = model.functions.emplace_back();
    f.domain = "d";
    f.name = "f" + std::to_string(i);
    f.opsets = model.opsets;
    Value* x = f.body->add_input("x", {});
    Value *h = f.body->add_value("h"), *y = f.body->add_value("y");
    const std::string next = "f" + std::to_string(i + 1);
    f.body->add_node(next, {x}, {h}, {}, {}, "d");
    f.body->add_node(next, {h}, {y}, {}, {}, "d");
    f.body->outputs = {y};
  }
  Graph& g = *model.graph;
  g.add_node("f0", {g.add_input("x", floats({2}))}, {g.add_value("y")}, {}, {}, "d");
  EXPECT_THROW(infer_shapes(model), Error);
}

TEST(Subgraph, SequencesLoseExtentsInALoop) {
  Model model;
  model.opsets = {{"", 18}};
  Graph& g = *model.graph;
  Value* n = g.add_input("n", Type::tensor(DType::kInt64, Dims()));
  Value* s = g.add_input("s", sequence_of(floats({2})));
  auto body = std::make_shared<Graph>();
  body->set_parent(&g);
  body->add_input("i", {});
  Value* condition = body->add_input("condition", {});
  Value* in = body->add_input("in", {});
  Value* x = body->add_constant("x", Tensor::vector<float>({1, 2, 3}));
  Value* out = body->add_value("out");
  body->add_node("SequenceInsert", {in, x}, {out});
  body->outputs = {condition, out};
  Value *all = g.add_value("all"), *joined = g.add_value("joined");
  g.add_node("Loop", {n, nullptr, s}, {all}, {{"body", body}});
  g.add_node("ConcatFromSequence", {all}, {joined}, {{"axis", int64_t{0}}});
  g.outputs = {joined};
  infer_shapes(model);
  EXPECT_EQ(in->type.str(), "seq(float32)");
  EXPECT_EQ(all->type.str(), "seq(float32)");
  EXPECT_EQ(joined->type.str(), "float32");
}

TEST(Subgraph, OnlyTensorsStackUp) {
  Model model;
  model.opsets = {{"", 18}};
  Graph& g = *model.graph;
  Value* n = g.add_input("n", Type::tensor(DType::kInt64, Dims()));
  auto body = std::make_shared<Graph>();
  body->set_parent(&g);
  body->add_input("i", {});
  Value* condition = body->add_input("condition", {});
  Value* empty = body->add_value("empty");
  body->add_node("SequenceEmpty", {}, {empty});
  body->outputs = {condition, empty};
  g.add_node("Loop", {n, nullptr}, {g.add_value("y")}, {{"body", body}});
  EXPECT_THROW(infer_shapes(model), Error);
}

TEST(Subgraph, SequenceMapInfersItsBodyOnElements) {
  Model model;
  model.opsets = {{"", 18}};
  Graph& g = *model.graph;
  Value* s = g.add_input("s", sequence_of(floats({2, 3})));
  auto body = std::make_shared<Graph>();
  body->set_parent(&g);
  Value* in = body->add_input("in", {});
  Value* out = body->add_value("out");
  body->add_node("Transpose", {in}, {out});
  body->outputs = {out};
  Value* mapped = g.add_value("mapped");
  g.add_node("SequenceMap", {s}, {mapped}, {{"body", body}});
  g.outputs = {mapped};
  infer_shapes(model);
  EXPECT_EQ(mapped->type.str(), "seq(float32[3, 2])");
}

TEST(Subgraph, DeclaredElementTypesFillWhatIsOpen) {
  Model model;
  model.opsets = {{"", 18}};
  Graph& g = *model.graph;
  Value* s = g.add_input("s", sequence_of(Type::tensor(DType::kFloat32)));
  Value* y = g.add_value("y", sequence_of(floats({Dim::symbol("n")})));
  g.add_node("SequenceErase", {s}, {y});
  g.outputs = {y};
  infer_shapes(model);
  EXPECT_EQ(y->type.str(), "seq(float32[n])");
}

TEST(Check, KnowsContainerTypes) {
  const auto error_for = [](Type type, const char* op) -> std::string {
    Model model;
    model.opsets = {{"", 18}};
    Graph& g = *model.graph;
    Value* s = g.add_input("s", std::move(type));
    g.add_node(op, {s}, {g.add_value("y")});
    try {
      infer_shapes(model);
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  };
  EXPECT_EQ(error_for(sequence_of(floats({2})), "SequenceLength"), "");
  EXPECT_EQ(error_for(sequence_of(Type::tensor(DType::kUndefined)), "SequenceLength"), "");
  EXPECT_EQ(error_for(sequence_of({}), "SequenceLength"), "");
  EXPECT_NE(error_for(sequence_of(floats({2})), "Relu"), "");
  EXPECT_NE(error_for(optional_of(floats({2})), "SequenceLength"), "");
  EXPECT_NE(error_for(floats({2}), "SequenceLength"), "");
  EXPECT_NE(error_for(sequence_of(sequence_of(floats({2}))), "SequenceLength"), "");
}

}  // namespace
}  // namespace assay::branch_test
