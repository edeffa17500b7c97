#include <gtest/gtest.h>

#include "assay/edit.h"
#include "graph/export.h"
#include "graph/import.h"

namespace assay::local_function_test {
namespace {

class LocalFunctionTest : public testing::Test {
 protected:
  LocalFunctionTest() {
    model.opsets = {{"", 17}};
    g.name = "g";
  }
  /// scaled(x) -> y, with the attribute `factor`.
  Function& add_scaled() {
    Function& f = add_function(model, "scaled");
    f.attribute_names = {"factor"};
    Value* x = f.body->add_input("x", {});
    f.body->outputs = layer(*f.body, "Mul", {x, Tensor::vector<float>({2})}, {"y"});
    f.body->outputs[0]->type = Type::tensor(DType::kFloat32, Dims{Dim::symbol("n")});
    return f;
  }
  std::string message(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  AttributeList factor() { return {{"factor", 2.0F}}; }

  Model model;
  Graph& g = *model.graph;
};

TEST_F(LocalFunctionTest, ACallHasTheFunctionsOutputs) {
  const Function& f = add_scaled();
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{2}));
  Value* y = call_function(g, f, {x}, {}, {.attributes = factor()})[0];
  EXPECT_EQ(y->name(), f.body->outputs[0]->name() + "_0");
  EXPECT_EQ(y->type, f.body->outputs[0]->type);
  EXPECT_EQ(y->producer()->op_type, "scaled");
  EXPECT_EQ(y->producer()->domain, "onnx_graphsurgeon");
  EXPECT_EQ(model.opset("onnx_graphsurgeon"), 1);
  Value* own = g.add_value("own", Type::tensor(DType::kFloat16));
  EXPECT_EQ(call_function(g, f, {x}, {own}, {.attributes = factor(), .name = "call"})[0], own);
  EXPECT_EQ(own->type.dtype, DType::kFloat16);
}

TEST_F(LocalFunctionTest, WrongCallsAreRefused) {
  const Function& f = add_scaled();
  Value* x = g.add_input("x", {});
  EXPECT_EQ(message([&] {
              call_function(g, f, {x, x});
            }),
            "the function 'scaled' has 1 inputs, but 2 are given");
  EXPECT_EQ(message([&] {
              call_function(g, f, {x}, {"a", "b"});
            }),
            "the function 'scaled' has 1 outputs, but 2 are given");
  EXPECT_EQ(message([&] { call_function(g, f, {x}); }), "the function 'scaled' needs the attribute 'factor'");
  EXPECT_EQ(message([&] {
              call_function(g, f, {x}, {}, {.attributes = {{"factor", 1.0F}, {"other", 1.0F}}});
            }),
            "the function 'scaled' has no attribute 'other'");
  EXPECT_EQ(message([&] { add_function(model, "scaled"); }),
            "the model already has a function 'scaled' of domain 'onnx_graphsurgeon'");
  EXPECT_TRUE(g.nodes().empty());
}

TEST_F(LocalFunctionTest, ConstantsOfABodyAreWrittenAsNodes) {
  Function& f = add_scaled();
  f.body->add_constant("unused", Tensor::vector<float>({1}));
  constants_to_nodes(*f.body);
  ASSERT_EQ(f.body->nodes().size(), 2U);
  EXPECT_EQ(f.body->nodes()[0]->op_type, "Constant");
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{2}));
  g.outputs = call_function(g, f, {x}, {}, {.attributes = factor()});
  const auto bytes = std::make_shared<std::string>(serialize_model(model));
  const auto read = parse_model(*bytes, bytes, "test");
  EXPECT_EQ(read->functions[0].body->nodes()[1]->op_type, "Mul");
}

TEST_F(LocalFunctionTest, UsedDomainsAreImported) {
  Value *x = g.add_input("x", {}), *y = g.add_value("y");
  auto branch = std::make_shared<Graph>();
  branch->add_node("Op", {}, {}, {}, "", "inner");
  g.add_node("Op", {x}, {y}, {{"body", branch}}, "", "outer");
  import_used_domains(model);
  EXPECT_EQ(model.opsets.size(), 3U);
  EXPECT_EQ(model.opset("outer"), 1);
  EXPECT_EQ(model.opset("inner"), 1);
  EXPECT_EQ(model.opset(), 17);
  import_used_domains(model);
  EXPECT_EQ(model.opsets.size(), 3U);
}

TEST_F(LocalFunctionTest, LongChainsOfCallsNeedNoStack) {
  const int n = 50000;
  for (int i = 0; i < n; ++i) {
    Function& f = add_function(model, std::to_string(i), "d");
    f.body->add_node(std::to_string(i + 1), {}, {}, {}, "", "d");
  }
  toposort(model, {.mode = SortMode::kFunctions});
  EXPECT_EQ(model.functions.front().name, std::to_string(n - 1));
  model.functions.front().body->add_node("0", {}, {}, {}, "", "d");
  EXPECT_THROW(toposort(model, {.mode = SortMode::kFunctions}), Error);
}

TEST_F(LocalFunctionTest, NamesAreFreeAgainOnceTheirFunctionsGo) {
  add_function(model, "a", "d");
  model.functions.emplace_back().name = "by hand";
  EXPECT_THROW(add_function(model, "a", "d"), Error);
  EXPECT_THROW(add_function(model, "by hand", ""), Error);
  EXPECT_THROW(add_function(model, "by hand", "ai.onnx"), Error);
  model.functions[0].name = "b";
  EXPECT_NO_THROW(add_function(model, "a", "d"));
  model.functions.clear();
  EXPECT_NO_THROW(add_function(model, "by hand", ""));
  EXPECT_EQ(model.functions.size(), 1U);
}

TEST_F(LocalFunctionTest, ASubgraphFindsOuterValuesByName) {
  Value* x = g.add_input("x", {});
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  branch->name = "branch";
  Value* y = branch->add_value("y");
  branch->add_node("Neg", {x}, {y}, {}, "neg");
  branch->outputs = {y};

  Model other;
  ValueMap map;
  EXPECT_EQ(message([&] { copy(*branch, other.graph.get(), map); }),
            "the graph 'branch' uses 'x' from outside, which the place it is copied to does not have");
  Value* theirs = other.graph->add_input("x", {});
  const auto there = copy(*branch, other.graph.get(), map);
  EXPECT_EQ(there->nodes()[0]->input(0), theirs);
  EXPECT_EQ(there->parent(), other.graph.get());
  EXPECT_EQ(map.at(y), there->outputs[0]);

  Value* z = other.graph->add_input("z", {});
  ValueMap renamed = {{x, z}};
  EXPECT_EQ(copy(*branch, other.graph.get(), renamed)->nodes()[0]->input(0), z);
  EXPECT_EQ(x->consumers().size(), 1U);
}

TEST_F(LocalFunctionTest, NodesAndValuesAreCopied) {
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{2}));
  Value* w = g.add_constant("w", Tensor::vector<float>({1, 2}));
  Value* y = g.add_value("y");
  Node* n = g.add_node("Add", {x, w}, {y}, {}, "add");
  Model other;
  ValueMap map;
  map[x] = copy(*x, *other.graph);
  const Node* there = copy(*n, *other.graph, map);
  EXPECT_EQ(there->input(0)->type, x->type);
  EXPECT_EQ(there->input(1)->tensor().data(), w->tensor().data());
  EXPECT_EQ(&there->output(0)->graph(), other.graph.get());
  EXPECT_THROW(copy(*x, *other.graph), Error);
}

TEST_F(LocalFunctionTest, LayersPassOverTheNumbersOfALoadedGraph) {
  Value* x = g.add_input("x", {});
  g.add_node("Neg", {x}, {g.add_value("a")}, {}, "onnx_graphsurgeon_node_7");
  g.add_node("Neg", {x}, {g.add_value("b")}, {}, "onnx_graphsurgeon_node_x");
  g.add_value("y_8");
  EXPECT_EQ(layer(g, "Abs", {x}, {"y"})[0]->name(), "y_9");
  EXPECT_EQ(g.nodes().back()->name, "onnx_graphsurgeon_node_10");
}

TEST_F(LocalFunctionTest, AConstantOfManyNodesIsNoBurden) {
  Value* x = g.add_input("x", {});
  Value* w = g.add_constant("w", Tensor::vector<float>({1}));
  const int n = 100000;
  for (int i = 0; i < n; ++i) layer(g, "Add", {x, w}, {"y"});
  g.outputs = {g.nodes().back()->output(0)};
  EXPECT_EQ(cleanup(g), n - 1);
  EXPECT_EQ(w->consumers(), std::vector<Node*>{g.nodes()[0].get()});
}

}  // namespace
}  // namespace assay::local_function_test
