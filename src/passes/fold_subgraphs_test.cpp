#include "passes/fold_test_util.h"

namespace assay::fold_subgraphs_test {
namespace {

class FoldIfTest : public FoldTest {
 protected:
  std::shared_ptr<Graph> branch(const std::string& name, Graph* parent = nullptr) {
    auto b = std::make_shared<Graph>();
    b->name = name;
    b->set_parent(parent != nullptr ? parent : &g);
    return b;
  }
  /// `op` on a value from outside.
  std::shared_ptr<Graph> one_node(const std::string& name, const std::string& op, Value* x) {
    auto b = branch(name);
    Value* h = b->add_value("h");
    Value* y = b->add_value("out");
    b->add_node(op, {x}, {h}, {}, "inner");
    b->add_node("Neg", {h}, {y}, {}, "negated");
    b->outputs = {y};
    return b;
  }
  Value* condition(const char* name, bool b) { return g.add_constant(name, Tensor::scalar<bool>(b)); }
};

TEST_F(FoldIfTest, TheBranchThatRunsTakesTheIfsPlace) {
  Value* x = input("x", DType::kFloat32, {2});
  node("Relu", {x}, "before");
  Value* y =
      node("If",
           {
               condition("c", false),
           },
           "y", {{"then_branch", one_node("then", "Abs", x)}, {"else_branch", one_node("else", "Exp", x)}});
  g.outputs = {node("Relu", {y}, "z"), value("before")};
  EXPECT_EQ(folded_ops({.flatten_subgraphs = false}), (Ops{"Relu", "If", "Relu"}));
  EXPECT_EQ(folded_ops(), (Ops{"Relu", "Exp", "Neg", "Relu"}));
  EXPECT_EQ(report.flattened_ifs, 1);
  EXPECT_NE(g.find_value("h_subg_1_else"), nullptr);
  EXPECT_EQ(y->producer()->name, "negated");
  EXPECT_EQ(g.nodes()[1]->input(0), x);
}

TEST_F(FoldIfTest, SeveralIfsKeepNamesApart) {
  Value* x = input("x", DType::kFloat32, {2});
  for (const char* name : {"a", "b"})
    g.outputs.push_back(
        node("If", {condition(fmt::format("c{}", name).c_str(), true)}, name,
             {{"then_branch", one_node("s", "Abs", x)}, {"else_branch", one_node("s", "Exp", x)}}));
  EXPECT_EQ(folded_ops(), (Ops{"Abs", "Neg", "Abs", "Neg"}));
  EXPECT_EQ(g.nodes()[0]->name, "inner");
  EXPECT_EQ(g.nodes()[2]->name, "inner_subg_2_s");
  EXPECT_NE(g.find_value("h_subg_0_s"), nullptr);
  EXPECT_NE(g.find_value("h_subg_2_s"), nullptr);
}

TEST_F(FoldIfTest, WhatABranchHandsThroughKeepsItsName) {
  Value* x = input("x", DType::kFloat32, {2});
  auto through = branch("t"), constant = branch("k");
  through->outputs = {x};
  constant->outputs = {constant->add_constant("seven", Tensor::vector<float>({7, 7}))};
  const auto other = [&] { return one_node("e", "Abs", x); };
  g.outputs = {node("If", {condition("c", true)}, "y", {{"then_branch", through}, {"else_branch", other()}}),
               node("If", {value("c")}, "z", {{"then_branch", constant}, {"else_branch", other()}})};
  EXPECT_EQ(folded_ops(), Ops{"Identity"});
  EXPECT_EQ(g.nodes()[0]->output(0)->name(), "y");
  EXPECT_EQ(floats_of(value("z")), (std::vector<float>{7, 7}));
}

TEST_F(FoldIfTest, NestedIfsAreFlattenedFromTheInside) {
  Value* x = input("x", DType::kFloat32, {2});
  Value* c = condition("c", true);
  auto outer = branch("outer");
  auto inner = branch("inner", outer.get()), unused = branch("unused", outer.get());
  Value* y = inner->add_value("deep");
  inner->add_node("Exp", {x}, {y}, {}, "exp");
  inner->outputs = {y};
  unused->outputs = {unused->add_constant("k", Tensor::vector<float>({0, 0}))};
  Value* mid = outer->add_value("mid");
  outer->add_node("If", {c}, {mid}, {{"then_branch", inner}, {"else_branch", unused}}, "inner_if");
  outer->outputs = {mid};
  g.outputs = {node("If", {c}, "y", {{"then_branch", outer}, {"else_branch", one_node("e", "Abs", x)}})};
  EXPECT_EQ(folded_ops(), Ops{"Exp"});
  EXPECT_EQ(report.flattened_ifs, 2);
  EXPECT_EQ(g.nodes()[0]->output(0)->name(), "y");
}

TEST_F(FoldIfTest, ConstantsFromOutsideFoldInSubgraphs) {
  Value* w = node("Neg", {floats("v", {2})}, "w");
  auto then_branch = branch("t"), else_branch = branch("e");
  for (const auto& b : {then_branch, else_branch}) {
    Value* y = b->add_value("o");
    b->add_node("Abs", {w}, {y}, {}, "abs");
    b->outputs = {y};
  }
  g.outputs = {node("If", {input("c", DType::kBool, {})}, "y",
                    {{"then_branch", then_branch}, {"else_branch", else_branch}})};
  fold_constants(model, {.recurse_subgraphs = false});
  EXPECT_FALSE(then_branch->find_value("o")->is_constant());
  EXPECT_EQ(folded_ops(), Ops{"If"});
  EXPECT_EQ(floats_of(then_branch->find_value("o")), std::vector<float>{2});
}

TEST_F(FoldIfTest, RandomNumbersInASubgraphAreNotFrozen) {
  auto then_branch = branch("t"), else_branch = branch("e");
  for (const auto& b : {then_branch, else_branch}) {
    Value* y = b->add_value("r");
    b->add_node("RandomNormal", {}, {y}, {{"shape", Ints{2}}}, "random");
    b->outputs = {y};
  }
  g.outputs = {
      node("If", {condition("c", true)}, "y", {{"then_branch", then_branch}, {"else_branch", else_branch}})};
  EXPECT_EQ(folded_ops({.flatten_subgraphs = false}), Ops{"If"});
}

TEST_F(FoldIfTest, ALoopWithoutAnEndIsNotRun) {
  auto body = branch("body");
  body->add_input("i", Type::tensor(DType::kInt64, Dims{}));
  Value* go_on = body->add_input("go_on", Type::tensor(DType::kBool, Dims{}));
  Value* x = body->add_input("state", Type::tensor(DType::kFloat32, Dims{1}));
  Value *next = body->add_value("next"), *sum = body->add_value("sum");
  body->add_node("Identity", {go_on}, {next});
  body->add_node("Add", {x, x}, {sum});
  body->outputs = {next, sum};
  g.outputs = {node("Loop", {nullptr, condition("c", true), floats("start", {1})}, "y", {{"body", body}})};
  EXPECT_EQ(folded_ops(), Ops{"Loop"});
  EXPECT_EQ(report.failed.size(), 1U);
  g.nodes()[0]->set_input(0, g.add_constant("turns", Tensor::scalar<int64_t>(3)));
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(floats_of(value("y")), std::vector<float>{8});
}

TEST_F(FoldIfTest, LoopsInLoopsTakeNoMoreStepsThanAllowed) {
  const auto loop = [&](Graph& in, Value* turns, std::shared_ptr<Graph> body, Value* start, Value* out) {
    in.add_node("Loop", {turns, nullptr, start}, {out}, {{"body", std::move(body)}}, out->name() + "_node");
  };
  const auto body_of = [&](const std::string& name) {
    auto body = branch(name);
    body->add_input("i", Type::tensor(DType::kInt64, Dims{}));
    body->add_input("go_on", Type::tensor(DType::kBool, Dims{}));
    body->add_input("state", Type::tensor(DType::kFloat32, Dims{1}));
    return body;
  };
  Value* turns = g.add_constant("turns", Tensor::scalar<int64_t>(60000));
  auto inner = body_of("inner"), outer = body_of("outer");
  inner->set_parent(outer.get());
  Value* sum = inner->add_value("sum");
  inner->add_node("Add", {inner->inputs[2], inner->inputs[2]}, {sum});
  inner->outputs = {inner->inputs[1], sum};
  Value* result = outer->add_value("result");
  loop(*outer, turns, inner, outer->inputs[2], result);
  outer->outputs = {outer->inputs[1], result};
  Value* y = value("y");
  loop(g, turns, outer, floats("start", {0}), y);
  g.outputs = {y};
  EXPECT_EQ(folded_ops({.max_work = 20'000'000}), Ops{"Loop"});
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_NE(report.failed[0].reason.find("takes more than 20000000 steps"), std::string::npos)
      << report.failed[0].reason;
}

/// An If over `cond` in `graph` whose branches give out what `then_op` and Neg make of v.
Value* add_if(Graph& graph, Value* cond, Value* v, const std::string& prefix,
              const std::string& then_op = "Abs") {
  const auto branch = [&](const std::string& op, const std::string& name) {
    auto b = std::make_shared<Graph>();
    b->name = name;
    b->set_parent(&graph);
    b->outputs = {b->add_value(name)};
    b->add_node(op, {v}, {b->outputs[0]}, {}, name + "_node");
    return b;
  };
  Value* y = graph.add_value(prefix + "y");
  graph.add_node(
      "If", {cond}, {y},
      {{"then_branch", branch(then_op, prefix + "t")}, {"else_branch", branch("Neg", prefix + "e")}},
      prefix + "if");
  return y;
}

TEST_F(FoldTest, ASubgraphInsideASubgraphIsEvaluated) {
  Value* cond = input("cond", DType::kBool, {});
  Value* yes = g.add_constant("yes", Tensor::scalar(true));
  Value* k = floats("k", {-3});
  add_if(g, cond, k, "");
  Graph& outer = **g.nodes()[0]->find_attribute("then_branch")->get_if<std::shared_ptr<Graph>>();
  outer.outputs = {add_if(outer, yes, k, "i_")};
  g.outputs = {value("y")};
  FoldOptions options;
  options.flatten_subgraphs = false;  // the inner If is not only put in the place of its branch
  EXPECT_EQ(folded_ops(options), Ops{"If"});
  EXPECT_EQ(ops(outer), Ops{});
  EXPECT_EQ(floats_of(outer.outputs[0]), std::vector<float>{3});
}

TEST_F(FoldTest, ASubgraphInsideASubgraphStaysWhereItNeedsAVariable) {
  Value* cond = input("cond", DType::kBool, {});
  Value* x = input("x", DType::kFloat32, {1});
  Value* yes = g.add_constant("yes", Tensor::scalar(true));
  add_if(g, cond, x, "");
  Graph& outer = **g.nodes()[0]->find_attribute("then_branch")->get_if<std::shared_ptr<Graph>>();
  outer.outputs = {add_if(outer, yes, x, "i_")};
  g.outputs = {value("y")};
  FoldOptions options;
  options.flatten_subgraphs = false;
  EXPECT_EQ(folded_ops(options), Ops{"If"});
  EXPECT_EQ(ops(outer), Ops{"If"});
  // Flattened, what is left of it is the branch that runs.
  EXPECT_EQ(folded_ops(), Ops{"If"});
  EXPECT_EQ(ops(outer), Ops{"Abs"});
}

TEST_F(FoldTest, ALoopInsideABranchUsesConstantsOfAllGraphsAround) {
  Value* cond = input("cond", DType::kBool, {});
  Value* k = floats("k", {1});
  add_if(g, cond, k, "");
  g.outputs = {value("y")};
  Graph& outer = **g.nodes()[0]->find_attribute("then_branch")->get_if<std::shared_ptr<Graph>>();
  Value* turns = outer.add_constant("turns", Tensor::scalar(int64_t{3}));
  auto body = std::make_shared<Graph>();
  body->name = "body";
  body->set_parent(&outer);
  body->add_input("i", Type::tensor(DType::kInt64, Dims{}));
  Value* go = body->add_input("go", Type::tensor(DType::kBool, Dims{}));
  Value* sum = body->add_input("sum", Type::tensor(DType::kFloat32, Dims{1}));
  Value *on = body->add_value("on"), *more = body->add_value("more");
  body->add_node("Identity", {go}, {on});
  body->add_node("Add", {sum, k}, {more});
  body->outputs = {on, more};
  Value* total = outer.add_value("total");
  outer.add_node("Loop", {turns, nullptr, k}, {total}, {{"body", body}}, "loop");
  outer.outputs = {total};
  EXPECT_EQ(folded_ops(), Ops{"If"});
  EXPECT_EQ(ops(outer), Ops{});
  EXPECT_EQ(floats_of(total), std::vector<float>{4});
}

}  // namespace
}  // namespace assay::fold_subgraphs_test
