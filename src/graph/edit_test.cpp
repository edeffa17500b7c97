#include "assay/edit.h"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>

namespace assay::edit_test {
namespace {

class EditTest : public testing::Test {
 protected:
  Value* value(const std::string& name) {
    Value* v = g.lookup(name);
    return v != nullptr ? v : g.add_value(name);
  }
  Node* node(const std::string& name, std::vector<std::string> inputs, std::vector<std::string> outputs,
             const std::string& op = "Op") {
    std::vector<Value*> in, out;
    for (const auto& i : inputs) in.push_back(i.empty() ? nullptr : value(i));
    for (const auto& o : outputs) out.push_back(o.empty() ? nullptr : value(o));
    return g.add_node(op, in, out, {}, name);
  }
  Value* input(const std::string& name) {
    g.inputs.push_back(value(name));
    return g.inputs.back();
  }
  void outputs(std::vector<std::string> names) {
    g.outputs.clear();
    for (const auto& n : names) g.outputs.push_back(value(n));
  }
  static std::vector<std::string> names(const Graph& graph) {
    std::vector<std::string> list;
    for (const auto& n : graph.nodes()) list.push_back(n->name);
    return list;
  }
  using Names = std::vector<std::string>;

  Model model;
  Graph& g = *model.graph;
};

TEST_F(EditTest, TensorsComeInTheOrderOfTheirFirstUse) {
  input("x");
  g.add_constant("w", Tensor::vector<float>({1}));
  node("b", {"h", "w"}, {"y"});
  node("a", {"x", ""}, {"h", "", "unused"});
  outputs({"y", "loose"});
  Names list;
  for (const Value* v : tensors(g)) list.push_back(v->name());
  EXPECT_EQ(list, (Names{"x", "h", "w", "y", "unused", "loose"}));
}

TEST_F(EditTest, CleanupRemovesWhatReachesNoOutput) {
  input("x");
  input("idle");
  g.add_constant("w", Tensor::vector<float>({1}));
  g.add_constant("lost", Tensor::vector<float>({1}));
  node("a", {"x"}, {"h"});
  node("side", {"h", "lost"}, {"s"});
  node("from_idle", {"idle"}, {"i"});
  node("b", {"h", "w"}, {"y"});
  outputs({"y", "nobody"});
  EXPECT_EQ(cleanup(g), 2);
  EXPECT_EQ(names(g), (Names{"a", "b"}));
  EXPECT_EQ(g.inputs.size(), 2U);
  EXPECT_EQ(g.find_value("lost"), nullptr);
  EXPECT_NE(g.find_value("w"), nullptr);
  EXPECT_EQ(g.outputs[1]->name(), "nobody");
  EXPECT_EQ(cleanup(g, {.remove_unused_graph_inputs = true}), 0);
  EXPECT_EQ(g.inputs.size(), 1U);
}

TEST_F(EditTest, CleanupCutsOffWhatComputesAnInput) {
  input("x");
  node("before", {"x"}, {"h"});
  node("after", {"h"}, {"y"});
  outputs({"y"});
  g.inputs = {g.find_value("h")};
  cleanup(g);
  EXPECT_EQ(names(g), Names{"after"});
  EXPECT_EQ(g.find_value("x"), nullptr);
  EXPECT_EQ(g.inputs[0]->producer(), nullptr);
}

TEST_F(EditTest, UnusedNodeOutputsLeaveTheirPositions) {
  input("x");
  node("n", {"x"}, {"a", "b", "c", "d"});
  node("m", {"c"}, {"y"});
  outputs({"y"});
  cleanup(g, {.remove_unused_node_outputs = true,
              .is_optional_output = [](const Node&, size_t i) { return i != 0; }});
  const std::vector<Value*>& kept = g.nodes()[0]->outputs();
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0]->name(), "a");
  EXPECT_EQ(kept[1], nullptr);
  EXPECT_EQ(kept[2]->name(), "c");
}

TEST_F(EditTest, NodesThatOnlySubgraphsUseStay) {
  input("cond");
  input("x");
  node("outer", {"x"}, {"h"});
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  Value* out = branch->add_value("o");
  branch->add_node("Op", {g.find_value("h")}, {out}, {}, "inner");
  branch->add_node("Op", {g.find_value("x")}, {branch->add_value("p")}, {}, "dead");
  branch->outputs = {out};
  g.add_node("If", {g.find_value("cond")}, {value("y")}, {{"then_branch", branch}}, "if");
  outputs({"y"});
  EXPECT_EQ(cleanup(g), 1);
  EXPECT_EQ(names(g), (Names{"outer", "if"}));
  EXPECT_EQ(names(*branch), Names{"inner"});
  EXPECT_EQ(subgraphs(g), std::vector<Graph*>{branch.get()});
}

TEST_F(EditTest, ToposortOrdersByLevel) {
  // A walk over the list finishes D, C, E: level 0 keeps D before E.
  input("x");
  node("C", {"d"}, {"c"});
  node("E", {"x"}, {"e"});
  node("D", {"x"}, {"d"});
  outputs({"c", "e"});
  toposort(g);
  EXPECT_EQ(names(g), (Names{"D", "E", "C"}));
}

TEST_F(EditTest, ToposortOfADiamondAndOfCapturedValues) {
  input("x");
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  node("end", {"l", "r"}, {"y"});
  Value* captured = value("r");
  Value* out = branch->add_value("o");
  branch->add_node("Op", {captured}, {out}, {}, "inner");
  branch->outputs = {out};
  g.add_node("If", {value("x")}, {value("z")}, {{"then_branch", branch}}, "if");
  node("left", {"top"}, {"l"});
  node("right", {"top"}, {"r"});
  node("start", {"x"}, {"top"});
  outputs({"y", "z"});
  toposort(g);
  EXPECT_EQ(names(g), (Names{"start", "left", "right", "end", "if"}));
}

TEST_F(EditTest, ACycleIsNamed) {
  node("first", {"b"}, {"a"});
  node("second", {"a"}, {"b"});
  outputs({"b"});
  try {
    toposort(g);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'first' (Op) <- 'second' (Op) <- 'first' (Op)"), std::string::npos)
        << e.what();
  }
}

TEST_F(EditTest, DeepGraphsNeedNoStack) {
  input("v0");
  for (int i = 100000; i-- > 0;) node("n", {fmt::format("v{}", i)}, {fmt::format("v{}", i + 1)});
  outputs({"v100000"});
  toposort(g);
  EXPECT_EQ(g.nodes().front()->input(0)->name(), "v0");
  EXPECT_EQ(cleanup(g), 0);
}

Function function(const std::string& name, const std::string& calls) {
  Function f;
  f.domain = "local";
  f.name = name;
  Value* x = f.body->add_input("x", {});
  Value* y = f.body->add_value("y");
  f.body->add_node(calls, {x}, {y}, {}, "call", calls == "Relu" ? "" : "local");
  f.body->outputs = {y};
  return f;
}

TEST_F(EditTest, FunctionsComeBeforeTheirCallers) {
  model.functions.push_back(function("outer", "middle"));
  model.functions.push_back(function("middle", "inner"));
  model.functions.push_back(function("inner", "Relu"));
  toposort(model, {.mode = SortMode::kNodes});
  EXPECT_EQ(model.functions[0].name, "outer");
  toposort(model);
  EXPECT_EQ(model.functions[0].name, "inner");
  EXPECT_EQ(model.functions[2].name, "outer");
  model.functions[0] = function("inner", "outer");
  EXPECT_THROW(toposort(model, {.mode = SortMode::kFunctions}), Error);
}

TEST_F(EditTest, CopiesAreApart) {
  input("x");
  Node* n = node("a", {"x"}, {"y"});
  outputs({"y"});
  const std::shared_ptr<Model> other = copy(model);
  n->op_type = "Changed";
  g.find_value("y")->rename("z");
  EXPECT_EQ(other->graph->nodes()[0]->op_type, "Op");
  EXPECT_EQ(other->graph->outputs[0]->name(), "y");
}

TEST_F(EditTest, LayersNameWhatTheyMake) {
  Value* x = input("x");
  const auto add = layer(g, "Add", {x, std::vector<double>{1, 2}}, {"sum"});
  EXPECT_EQ(add[0]->name(), "sum_1");
  EXPECT_EQ(g.nodes()[0]->name, "onnx_graphsurgeon_node_2");
  EXPECT_EQ(g.nodes()[0]->input(1)->name(), "onnx_graphsurgeon_lst_constant_0");
  EXPECT_EQ(g.nodes()[0]->input(1)->tensor().dtype(), DType::kFloat32);
  layer(g, "Clip", {add[0], nullptr, Tensor::vector<float>({6})}, {add[0] == nullptr ? "" : "y"},
        {.attributes = {{"k", int64_t{3}}}, .name = "clip", .domain = "mine"});
  const Node& clip = *g.nodes()[1];
  EXPECT_EQ(clip.input(1), nullptr);
  EXPECT_EQ(clip.input(2)->name(), "onnx_graphsurgeon_constant_3");
  EXPECT_EQ(clip.output(0)->name(), "y_4");
  EXPECT_EQ(clip.domain, "mine");
  layer(g, "Gather", {x, 1}, {"picked"});
  EXPECT_EQ(g.nodes()[2]->input(1)->tensor().shape(), Shape{});
  EXPECT_EQ(g.nodes()[2]->input(1)->tensor().dtype(), DType::kInt64);
}

TEST_F(EditTest, RegisteredLayersDependOnTheOpset) {
  LayerRegistry registry;
  registry.add("min", [](Graph& graph, const LayerArguments& a) { return layer(graph, "Min", a, {"any"}); });
  registry.add(
      "min", [](Graph& graph, const LayerArguments& a) { return layer(graph, "Clip", a, {"eleven"}); }, {11});
  registry.add("relu", [](Graph& graph, const LayerArguments& a) { return layer(graph, "Relu", a, {"r"}); },
               {13});
  Value* x = input("x");
  model.opsets = {{"", 11}};
  EXPECT_EQ(registry.call(model, g, "min", {x})[0]->producer()->op_type, "Clip");
  model.opsets = {{"", 12}};
  EXPECT_EQ(registry.call(model, g, "min", {x})[0]->producer()->op_type, "Min");
  const auto message = [&](const char* name) {
    try {
      registry.call(model, g, name, {x});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("relu"), "no function is registered as 'relu' for opset 12; there is one for opset 13");
  EXPECT_EQ(message("Min"), "no function is registered as 'Min'; did you mean 'min'?");
  model.functions.push_back(function("twice", "Relu"));
  Value* y = registry.call(model, g, "twice", {x})[0];
  EXPECT_EQ(y->producer()->domain, "local");
  EXPECT_TRUE(y->name().starts_with("y_"));
}

// ---------------------------------------------------------------- a constant that everything uses

/// y<i> = Add(x, w) for many i.
struct SharedConstant {
  Graph g;
  Value* x = g.add_input("x", {});
  Value* w = g.add_constant("w", Tensor::scalar(1.0F));
  std::vector<Node*> nodes;

  explicit SharedConstant(int count) {
    for (int i = 0; i < count; ++i)
      nodes.push_back(g.add_node("Add", {x, w}, {g.add_value("y" + std::to_string(i))}));
  }
};

TEST(SharedConstant, ConsumersKeepTheirOrder) {
  SharedConstant s(200);
  // Uses are removed at both ends, in the middle and twice, and some are added again meanwhile.
  std::vector<Node*> expected = s.nodes;
  const auto remove = [&](size_t i) {
    s.nodes[i]->set_inputs({});
    std::erase(expected, s.nodes[i]);
  };
  for (const size_t i : {0, 199, 100, 101, 3}) remove(i);
  s.nodes[3]->set_inputs({s.w, s.w});
  expected.insert(expected.end(), 2, s.nodes[3]);
  remove(50);
  EXPECT_EQ(s.w->consumers(), expected);
  s.nodes[3]->set_input(0, s.x);  // the last of its entries goes
  expected.pop_back();
  remove(60);
  EXPECT_EQ(s.w->consumers(), expected);
  s.g.replace_uses(s.w, s.x);
  EXPECT_TRUE(s.w->consumers().empty());
}

TEST(SharedConstant, ANewNodeIsNotTakenForADeletedOne) {
  SharedConstant s(100);
  for (int round = 0; round < 20; ++round) {  // addresses are used again
    s.g.remove_node(s.nodes[static_cast<size_t>(round)]);
    s.nodes.push_back(s.g.add_node("Mul", {s.w}, {}));
  }
  const std::vector<Node*> expected(s.nodes.begin() + 20, s.nodes.end());
  EXPECT_EQ(s.w->consumers(), expected);
}

TEST(SharedConstant, UsesGoInLinearTime) {
  const auto seconds = [](int count, const std::function<void(SharedConstant&)>& edit) {
    SharedConstant s(count);
    const std::clock_t start = std::clock();
    edit(s);
    EXPECT_TRUE(s.w->consumers().empty());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const std::function<void(SharedConstant&)> edits[] = {
      [](SharedConstant& s) { s.g.remove_nodes_if([](const Node&) { return true; }); },
      [](SharedConstant& s) {
        for (Node* n : s.nodes) n->set_inputs({});
      },
      [](SharedConstant& s) {
        for (size_t i = s.nodes.size(); i-- > 0;) s.nodes[i]->set_input(1, nullptr);
      },
      [](SharedConstant& s) { cleanup(s.g); }};
  // Quadratic time takes minutes.
  for (const auto& edit : edits) EXPECT_LT(seconds(200000, edit), 2.0);
}

TEST(SharedConstant, WhatOnlyASubgraphGivesOutStays) {
  Graph g;
  Value* cond = g.add_input("cond", {});
  Value* w = g.add_constant("w", Tensor::scalar(1.0F));
  Value* y = g.add_value("y");
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  branch->outputs = {w};  // no node consumes it
  g.add_node("If", {cond}, {y}, {{"then_branch", branch}});
  g.outputs = {y};
  cleanup(g);
  EXPECT_EQ(g.find_value("w"), w);
}

}  // namespace
}  // namespace assay::edit_test
