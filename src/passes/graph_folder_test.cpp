#include <ctime>

#include "base/memory_limit.h"
#include "graph/export.h"
#include "graph/import.h"
#include "passes/fold_test_util.h"

namespace assay::graph_folder_test {
namespace {

TEST_F(FoldTest, EveryFormOfConstantNodeIsLowered) {
  node("Constant", {}, "tensor", {{"value", Tensor::vector<float>({1, 2})}});
  node("Constant", {}, "float", {{"value_float", 2.5F}});
  node("Constant", {}, "floats", {{"value_floats", std::vector<float>{1, 2, 3}}});
  node("Constant", {}, "int", {{"value_int", int64_t{7}}});
  node("Constant", {}, "ints", {{"value_ints", Ints{4, 5}}});
  node("Constant", {}, "string", {{"value_string", std::string("s")}});
  for (const char* name : {"tensor", "float", "floats", "int", "ints", "string"})
    g.outputs.push_back(value(name));
  EXPECT_EQ(folded_ops(), Ops{"Constant"});
  EXPECT_EQ(floats_of(value("tensor")), (std::vector<float>{1, 2}));
  EXPECT_EQ(value("float")->tensor().shape(), Shape{});
  EXPECT_EQ(floats_of(value("floats")).size(), 3U);
  EXPECT_EQ(value("int")->tensor().to_int64(), Ints{7});
  EXPECT_EQ(value("ints")->type.str(), "int64[2]");
  EXPECT_FALSE(value("string")->is_constant());
}

TEST_F(FoldTest, NodesStayWithoutOutputsUntilCleanup) {
  Value* h = node("Add", {floats("a", {1}), floats("b", {2})}, "h");
  g.outputs = {node("Add", {h, value("a")}, "y")};
  EXPECT_EQ(fold_constants(model).folded_nodes, 2);
  ASSERT_EQ(g.nodes().size(), 2U);
  EXPECT_TRUE(g.nodes()[0]->outputs().empty());
  EXPECT_EQ(g.nodes()[0]->inputs().size(), 2U);
  EXPECT_EQ(floats_of(h), std::vector<float>{3});
  EXPECT_EQ(floats_of(value("y")), std::vector<float>{4});
  EXPECT_EQ(fold_constants(model).folded_nodes, 0);
  cleanup(model);
  EXPECT_TRUE(g.nodes().empty());
  EXPECT_EQ(g.values().size(), 1U);
}

TEST_F(FoldTest, TheOrderOfNodesDoesNotMatter) {
  Value* w = floats("w", {1});
  for (int i = 40; i > 0; --i)
    node("Add", {i == 1 ? w : value(fmt::format("h{}", i - 1)), w}, fmt::format("h{}", i));
  g.outputs = {value("h40")};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(floats_of(value("h40")), std::vector<float>{41});
}

TEST_F(FoldTest, AnOmittedInputIsNoObstacle) {
  g.outputs = {
      node("Clip", {floats("x", {-1, 9}), nullptr, g.add_constant("top", Tensor::scalar<float>(6))}, "y")};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(floats_of(value("y")), (std::vector<float>{-1, 6}));
}

TEST_F(FoldTest, AnInitializerThatAnInputReplacesIsNoConstant) {
  Value* w = floats("w", {1});
  w->is_overridable = true;
  g.outputs = {node("Neg", {w}, "y")};
  model.ir_version = 8;
  EXPECT_EQ(folded_ops(), Ops{"Neg"});
  model.ir_version = 3;  // where every initializer is also listed among the inputs
  EXPECT_EQ(folded_ops(), Ops{});
}

TEST_F(FoldTest, UntouchedConstantsStayWhatWasRead) {
  Value* kept = floats("kept", {1, 2});
  node("Add", {input("x", DType::kFloat32, {2}), kept}, "y");
  g.outputs = {value("y"), node("Neg", {floats("w", {3})}, "z")};
  g.outputs[0]->type = g.outputs[1]->type = Type::tensor(DType::kFloat32);
  const auto bytes = std::make_shared<std::string>(serialize_model(model));
  const auto read = parse_model(*bytes, bytes, "test");
  fold_constants(*read);
  cleanup(*read);
  const Value* v = read->graph->find_value("kept");
  ASSERT_NE(v->tensor_source(), nullptr);
  EXPECT_EQ(v->tensor_source()->data, v->tensor().data());
}

TEST_F(FoldTest, QuantizationStays) {
  Value* scale = g.add_constant("scale", Tensor::scalar<float>(0.5F));
  Value* zero = g.add_constant("zero", Tensor::scalar<uint8_t>(3));
  Value* same = node("Identity", {floats("x", {1, 2})}, "same");
  Value* q = node("QuantizeLinear", {same, scale, zero}, "q");
  g.outputs = {node("DequantizeLinear", {q, scale, zero}, "y")};
  EXPECT_EQ(folded_ops(), (Ops{"QuantizeLinear", "DequantizeLinear"}));
}

TEST_F(FoldTest, RandomAndUnknownOperatorsStay) {
  g.outputs = {node("RandomNormal", {}, "r", {{"shape", Ints{2}}})};
  Value* mine = value("m");
  g.add_node("Mine", {floats("w", {1})}, {mine}, {}, "mine", "somewhere");
  g.outputs.push_back(node("Neg", {mine}, "n"));
  EXPECT_EQ(folded_ops(), (Ops{"RandomNormal", "Mine", "Neg"}));
  EXPECT_TRUE(report.failed.empty());
}

TEST_F(FoldTest, ExcludedNodesStayAndWhatFollowsThem) {
  const auto build = [&] {
    Value* w = floats("w", {-1, 1});
    Value* a = node("Add", {w, w}, "node_1");
    Value* b = node("Relu", {a}, "node_3");
    Value* c = node("Add", {b, w}, "node_5");
    g.outputs = {node("Relu", {c}, "node_7")};
  };
  build();
  EXPECT_EQ(folded_ops({.should_exclude_node = [](const Node&) { return true; }}).size(), 4U);
  EXPECT_EQ(folded_ops({.should_exclude_node = [](const Node& n) { return n.op_type == "Add"; }}).size(), 4U);
  EXPECT_EQ(folded_ops({.should_exclude_node = [](const Node& n) { return n.name == "node_5_node"; }}),
            (Ops{"Add", "Relu"}));
  EXPECT_EQ(folded_ops(), Ops{});
}

TEST_F(FoldTest, AFailureConcernsOneNode) {
  Value* bad = node("Gather", {floats("w", {1, 2}), ints("i", {5})}, "bad");
  g.outputs = {bad, node("Neg", {value("w")}, "good")};
  EXPECT_THROW(fold_constants(model, {.error_ok = false}), Error);
  EXPECT_EQ(folded_ops(), Ops{"Gather"});
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].node, "'bad_node' (Gather)");
  EXPECT_NE(report.failed[0].reason.find("5"), std::string::npos) << report.failed[0].reason;
}

TEST_F(FoldTest, SequencesAreComputedThroughButNotStored) {
  Value* s = node("SequenceConstruct", {floats("a", {1}), floats("b", {2})}, "s");
  g.outputs = {node("SequenceAt", {s, g.add_constant("i", Tensor::scalar<int64_t>(1))}, "y")};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(floats_of(value("y")), std::vector<float>{2});
  g.outputs.push_back(node("SequenceConstruct", {value("y")}, "t"));
  EXPECT_EQ(folded_ops(), Ops{"SequenceConstruct"});
  EXPECT_TRUE(report.failed.empty() && report.too_large.empty());
}

TEST_F(FoldTest, HugeResultsAreNotComputed) {
  Value* shape = ints("shape", {int64_t{1} << 20, int64_t{1} << 20});
  g.outputs = {node("ConstantOfShape", {shape}, "y")};
  EXPECT_EQ(folded_ops(), Ops{"ConstantOfShape"});
  EXPECT_EQ(report.failed.size(), 1U);
}

TEST_F(FoldTest, WhatTakesTooLongIsNotComputed) {
  // A million windows of a million elements each.
  constexpr int64_t kLength = 1 << 20;
  Value* x = g.add_constant("x", Tensor::from<float>({1, 1, 8}, std::vector<float>(8, 1)));
  g.outputs = {
      node("MaxPool", {x}, "y", {{"kernel_shape", Ints{kLength}}, {"pads", Ints{kLength - 1, kLength - 1}}}),
      node("Neg", {x}, "z")};
  EXPECT_EQ(folded_ops(), Ops{"MaxPool"});
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(
      report.failed[0].reason,
      "it takes more than 68719476736 steps, too long to be computed here [at node 'y_node' (MaxPool)]");
}

TEST_F(FoldTest, WhatTakesMostOfTheMemoryIsNotComputed) {
  set_memory_limit(memory_in_use() + (int64_t{16} << 20));
  Value *rows = floats("rows", std::vector<float>(2000, 1)),
        *columns = g.add_constant("columns", rows->tensor().reshaped({2000, 1}));
  g.outputs = {node("Add", {rows, columns}, "y"), node("Neg", {rows}, "z")};
  EXPECT_EQ(folded_ops(), Ops{"Add"});
  set_memory_limit(0);
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_NE(report.failed[0].reason.find("memory limit"), std::string::npos) << report.failed[0].reason;
}

TEST_F(FoldTest, NodesThatBreakTheirSchemaStay) {
  Value* w = floats("w", {1, 2});
  g.outputs = {node("Unique", {nullptr}, "a"),
               node("Add", {w}, "b"),
               node("Conv", {}, "c"),
               node("Relu", {w, w}, "d"),
               node("Add", {w, g.add_constant("s", Tensor::scalar<std::string>("x"))}, "e"),
               node("Neg", {w}, "f")};
  EXPECT_EQ(folded_ops(), (Ops{"Unique", "Add", "Conv", "Relu", "Add"}));
  ASSERT_EQ(report.failed.size(), 5U);
  EXPECT_EQ(report.failed[0].reason,
            "Unique-11 needs its inputs 'X', which is left out [at node 'a_node' (Unique)]");
  EXPECT_EQ(report.failed[1].reason, "Add-14 takes 2 inputs, but 1 are given [at node 'b_node' (Add)]");
  EXPECT_EQ(report.failed[2].reason,
            "Conv-11 takes 2 to 3 inputs, but 0 are given [at node 'c_node' (Conv)]");
  EXPECT_EQ(report.failed[3].reason, "Relu-14 takes 1 inputs, but 2 are given [at node 'd_node' (Relu)]");
  EXPECT_NE(report.failed[4].reason.find("[at node 'e_node' (Add)]"), std::string::npos);
}

TEST_F(FoldTest, ManyNodesTakeLinearTime) {
  // All share one constant and one input; half fold.
  const auto seconds = [](int n) {
    Model m;
    m.opsets = {{"", 17}};
    Graph& graph = *m.graph;
    Value* w = graph.add_constant("w", Tensor::vector<float>({1}));
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat32, Dims{1}));
    for (int i = 0; i < n; ++i) {
      Value *c = graph.add_value(fmt::format("c{}", i)), *y = graph.add_value(fmt::format("y{}", i));
      graph.add_node("Add", {w, w}, {c});
      graph.add_node("Add", {x, c}, {y});
      graph.outputs.push_back(y);
    }
    // Of the processor: what else the machine does counts less.
    const std::clock_t start = std::clock();
    EXPECT_EQ(fold_constants(m).folded_nodes, n);
    EXPECT_EQ(cleanup(m), n);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  seconds(100);
  const double few = std::min({seconds(2000), seconds(2000), seconds(2000)});
  const double many = std::min({seconds(20000), seconds(20000), seconds(20000)});
  EXPECT_LT(many, 50 * few);  // quadratic time: 100 times as long
}

}  // namespace
}  // namespace assay::graph_folder_test
