#include "assay/inspect.h"

#include <gtest/gtest.h>

#include <sstream>

#include "inspect/inspect_test_util.h"
#include "ops/infer.h"

namespace assay::model_stats_test {
namespace {

ModelStats stats_of(const TestModel& m) {
  infer_shapes(*m.model, {.on_problem = [](const Node&, const std::string&) {}});
  return model_stats(*m.model);
}

/// x [n, 4] times w [4, 8], then Relu.
TestModel two_layers(Dim batch) {
  TestModel m;
  m.input("x", {batch, 4});
  m.constant("w", {4, 8});
  m.node("MatMul", {"x", "w"}, {"h"}, {}, "product");
  m.node("Relu", {"h"}, {"y"}, {}, "relu");
  m.output("y", {batch, 8});
  return m;
}

TEST(ModelStatsTest, CountsOfAChain) {
  const ModelStats s = stats_of(two_layers(2));
  EXPECT_EQ(s.nodes, 2);
  EXPECT_EQ(s.parameters, 32);
  EXPECT_EQ(s.constant_bytes, 128);
  EXPECT_EQ(s.macs.number(), 2 * 4 * 8);
  // x 32 bytes, h and y 64 each; x and h live together, then h and y.
  EXPECT_EQ(s.activation_bytes.number(), 32 + 64 + 64);
  EXPECT_EQ(s.peak_bytes.number(), 128);
  EXPECT_FALSE(s.peak_is_bound);
  ASSERT_EQ(s.layers.size(), 2U);
  EXPECT_EQ(s.layers[0].name, "product");
  EXPECT_EQ(s.layers[0].parameters, 32);
  EXPECT_EQ(s.layers[1].output_bytes.number(), 64);
  EXPECT_TRUE(s.notes.empty());
}

TEST(ModelStatsTest, SymbolsStayInTheCounts) {
  const ModelStats s = stats_of(two_layers(Dim::symbol("n")));
  EXPECT_EQ(s.macs.str(), "32*n");
  EXPECT_EQ(s.peak_bytes.str(), "64*n");
}

TEST(ModelStatsTest, UnknownOperatorsAndShapesAreUnknown) {
  TestModel m;
  m.input("x", {2});
  m.node("Foo", {"x"}, {"y"}, {}, "foo", "com.example");
  m.node("Relu", {"y"}, {"z"}, {}, "relu");
  const ModelStats s = stats_of(m);
  EXPECT_EQ(s.macs.str(), "?");
  EXPECT_EQ(s.activation_bytes.str(), "8 + ?");
  EXPECT_FALSE(s.peak_bytes.is_known());
  EXPECT_EQ(s.notes, std::vector<std::string>{"com.example::Foo: what this operator computes is not known"});
}

/// A branch or body that multiplies x [2, 4] with w of the model `times` times.
std::shared_ptr<Graph> products(const TestModel& m, int times, const std::string& prefix) {
  auto g = m.subgraph();
  Value* v = m.graph->lookup("x");
  for (int i = 0; i < times; ++i) {
    Value* next = g->add_value(prefix + std::to_string(i));
    g->add_node("MatMul", {v, m.graph->lookup("w")}, {next}, {}, prefix + "_product" + std::to_string(i));
    v = next;
  }
  g->outputs.push_back(v);
  return g;
}

TestModel branching(int then_products, int else_products) {
  TestModel m;
  m.input("c", {}, DType::kBool);
  m.input("x", {2, 4});
  m.constant("w", {4, 4});
  m.node("If", {"c"}, {"y"},
         {{"then_branch", products(m, then_products, "t")}, {"else_branch", products(m, else_products, "e")}},
         "if");
  m.output("y", {2, 4});
  return m;
}

TEST(ModelStatsTest, OnlyTheDearerBranchCounts) {
  const ModelStats s = stats_of(branching(1, 3));
  EXPECT_EQ(s.macs.number(), 3 * 2 * 4 * 4);
  EXPECT_EQ(s.parameters, 16);
  EXPECT_EQ(s.notes, std::vector<std::string>{"if: only the branch that costs more is counted"});
  ASSERT_EQ(s.layers.size(), 5U);
  EXPECT_EQ(s.layers[1].name, "if/then_branch/t_product0");
  EXPECT_FALSE(s.layers[1].is_counted);
  EXPECT_TRUE(s.layers[2].is_counted);
  EXPECT_EQ(s.operators[1].op_type, "MatMul");
  EXPECT_EQ(s.operators[1].nodes, 4);
  EXPECT_EQ(s.operators[1].macs, s.macs);
}

TestModel looping(const Tensor& most) {
  TestModel m;
  m.input("x", {2, 4});
  m.constant("w", {4, 4});
  m.graph->add_constant("most", most);
  auto body = products(m, 1, "b");
  Value* product = body->outputs.front();
  Value* i = body->add_input("i", Type::tensor(DType::kInt64, Dims{}));
  Value* condition = body->add_input("condition", Type::tensor(DType::kBool, Dims{}));
  Value* again = body->add_value("again");
  body->add_node("Identity", {condition}, {again});
  body->outputs = {again, product};
  (void)i;
  m.node("Loop", {"most", ""}, {"y"}, {{"body", body}}, "loop");
  m.graph->outputs.push_back(m.graph->lookup("y"));
  return m;
}

TEST(ModelStatsTest, ALoopCostsItsBodyForEveryTrip) {
  const ModelStats s = stats_of(looping(Tensor::scalar<int64_t>(5)));
  EXPECT_EQ(s.macs.number(), 5 * 2 * 4 * 4);
  EXPECT_EQ(s.layers[1].times.number(), 5);
  EXPECT_EQ(s.notes,
            std::vector<std::string>{"loop: one iteration costs what its layers say; at most 5 iterations"});
}

TEST(ModelStatsTest, AnUnknownTripCountIsASymbol) {
  const ModelStats s = stats_of(looping(Tensor::scalar<int64_t>(INT64_MAX)));
  EXPECT_EQ(s.macs.str(), "32*trips(loop)");
  EXPECT_EQ(s.notes,
            std::vector<std::string>{
                "loop: one iteration costs what its layers say; the number of iterations is not known"});
}

TEST(ModelStatsTest, AScanRunsOverAnExtent) {
  TestModel m;
  m.input("xs", {7, 4});
  m.constant("w", {4, 3});
  auto body = m.subgraph();
  Value* x = body->add_input("row", Type::tensor(DType::kFloat32, Dims{4}));
  Value* y = body->add_value("out");
  body->add_node("MatMul", {x, m.graph->lookup("w")}, {y});
  body->outputs = {y};
  m.node("Scan", {"xs"}, {"ys"}, {{"body", body}, {"num_scan_inputs", int64_t{1}}}, "scan");
  m.graph->outputs.push_back(m.graph->lookup("ys"));
  EXPECT_EQ(stats_of(m).macs.number(), 7 * 4 * 3);
}

TEST(ModelStatsTest, ConstantNodesAreParametersAndNotActivations) {
  TestModel m;
  m.node("Constant", {}, {"k"}, {{"value", Tensor::vector<float>({1, 2})}}, "k");
  m.node("Neg", {"k"}, {"y"}, {}, "neg");
  m.output("y", {2});
  const ModelStats s = stats_of(m);
  EXPECT_EQ(s.parameters, 2);
  EXPECT_EQ(s.activation_bytes.number(), 8);
  EXPECT_EQ(s.peak_bytes.number(), 8);
}

TEST(ModelStatsTest, TextAndJson) {
  const ModelStats s = stats_of(two_layers(Dim::symbol("n")));
  const std::string text = stats_text(s, /*layers=*/true);
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "Nodes: 2 | Parameters: 32 | Constants: 128 B | MACs: 32*n\n"
            "Activations: 80*n B in all, 64*n B at once");
  EXPECT_NE(text.find("MatMul   |     1 |         32 | 32*n |  32*n B\n"), std::string::npos) << text;
  EXPECT_NE(text.find("product | MatMul   | float32[n, 8] |"), std::string::npos) << text;
  EXPECT_NE(stats_json(s).find("\"macs\": \"32*n\""), std::string::npos);
  EXPECT_NE(stats_json(stats_of(two_layers(2))).find("\"macs\": 64,"), std::string::npos);
}

/// Sums of products of symbols do not widen the columns: they stand below, each once.
TEST(ModelStatsTest, LongFormulasStandBelowTheTables) {
  TestModel m;
  m.input("x", {Dim::symbol("batch_size"), Dim::symbol("sequence_length"), 4});
  m.constant("w", {4, 8});
  m.node("MatMul", {"x", "w"}, {"h"}, {}, "product");
  m.node("Relu", {"h"}, {"y"}, {}, "relu");
  m.output("y", {Dim::symbol("batch_size"), Dim::symbol("sequence_length"), 8});
  const std::string text = stats_text(stats_of(m), /*layers=*/true);
  const size_t formulas = text.find("---- 3 Formula(s) ----\n");
  ASSERT_NE(formulas, std::string::npos) << text;
  const size_t tables = text.find("---- 2 Operator(s) ----");
  for (size_t at = tables; at < formulas;) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 80U) << text.substr(at, end - at);
    at = end + 1;
  }
  EXPECT_NE(text.find("(1) = 32*batch_size*sequence_length\n"), std::string::npos) << text;
  EXPECT_NE(text.find("MatMul   |     1 |         32 |  (1) |     (2)\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::model_stats_test
