#include <gtest/gtest.h>

#include <ctime>

#include "assay/edit.h"
#include "assay/fold.h"
#include "graph/export.h"
#include "graph/import.h"
#include "base/memory_limit.h"
#include "ops/infer.h"
#include "reference/interpreter.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

class FoldTest : public testing::Test {
 protected:
  FoldTest() {
    model.opsets = {{"", 17}};
    g.name = "g";
  }
  Value* value(const std::string& name) {
    Value* v = g.lookup(name);
    return v != nullptr ? v : g.add_value(name);
  }
  Value* floats(const std::string& name, std::vector<float> v) {
    return g.add_constant(name, Tensor::vector<float>(v));
  }
  Value* ints(const std::string& name, Ints v) { return g.add_constant(name, Tensor::vector<int64_t>(v)); }
  Value* input(const std::string& name, DType dtype, Dims dims) {
    return g.add_input(name, Type::tensor(dtype, std::move(dims)));
  }
  Value* node(const std::string& op, std::vector<Value*> inputs, const std::string& output,
              AttributeList attributes = {}) {
    Value* y = value(output);
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), output + "_node");
    return y;
  }
  static std::vector<std::string> ops(const Graph& graph) {
    std::vector<std::string> list;
    for (const auto& n : graph.nodes()) list.push_back(n->op_type);
    return list;
  }
  /// The operators that are left after cleanup().
  std::vector<std::string> folded_ops(const FoldOptions& options = {}) {
    report = fold_constants(model, options);
    cleanup(model);
    return ops(g);
  }
  using Ops = std::vector<std::string>;

  Model model;
  Graph& g = *model.graph;
  FoldReport report;
};

std::vector<float> floats_of(const Value* v) {
  const Tensor stored = v->tensor().aligned();
  const auto s = stored.span<float>();
  return {s.begin(), s.end()};
}

// ---------------------------------------------------------------- constants

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

// ---------------------------------------------------------------- what is not folded

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
  g.outputs = {node("MaxPool", {x}, "y",
                    {{"kernel_shape", Ints{kLength}}, {"pads", Ints{kLength - 1, kLength - 1}}}),
               node("Neg", {x}, "z")};
  EXPECT_EQ(folded_ops(), Ops{"MaxPool"});
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].reason,
            "it takes more than 68719476736 steps, too long to be computed here [at node 'y_node' (MaxPool)]");
}

TEST_F(FoldTest, WhatTakesMostOfTheMemoryIsNotComputed) {
  set_memory_limit(memory_in_use() + (int64_t{16} << 20));
  Value *rows = floats("rows", std::vector<float>(2000, 1)), *columns = g.add_constant("columns", rows->tensor().reshaped({2000, 1}));
  g.outputs = {node("Add", {rows, columns}, "y"), node("Neg", {rows}, "z")};
  EXPECT_EQ(folded_ops(), Ops{"Add"});
  set_memory_limit(0);
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_NE(report.failed[0].reason.find("--memory-limit"), std::string::npos) << report.failed[0].reason;
}

TEST_F(FoldTest, NodesThatBreakTheirSchemaStay) {
  Value* w = floats("w", {1, 2});
  g.outputs = {node("Unique", {nullptr}, "a"), node("Add", {w}, "b"), node("Conv", {}, "c"),
               node("Relu", {w, w}, "d"), node("Add", {w, g.add_constant("s", Tensor::scalar<std::string>("x"))}, "e"),
               node("Neg", {w}, "f")};
  EXPECT_EQ(folded_ops(), (Ops{"Unique", "Add", "Conv", "Relu", "Add"}));
  ASSERT_EQ(report.failed.size(), 5U);
  EXPECT_EQ(report.failed[0].reason, "Unique-11 needs its inputs 'X', which is left out [at node 'a_node' (Unique)]");
  EXPECT_EQ(report.failed[1].reason, "Add-14 takes 2 inputs, but 1 are given [at node 'b_node' (Add)]");
  EXPECT_EQ(report.failed[2].reason, "Conv-11 takes 2 to 3 inputs, but 0 are given [at node 'c_node' (Conv)]");
  EXPECT_EQ(report.failed[3].reason, "Relu-14 takes 1 inputs, but 2 are given [at node 'd_node' (Relu)]");
  EXPECT_NE(report.failed[4].reason.find("[at node 'e_node' (Add)]"), std::string::npos);
}

// ---------------------------------------------------------------- size

struct SizeCase {
  std::optional<int64_t> threshold;
  int64_t bytes0;
  bool fold0;
  int64_t bytes1;
  bool fold1;
};

class FoldSizeTest : public FoldTest, public testing::WithParamInterface<SizeCase> {};

TEST_P(FoldSizeTest, TheThresholdBoundsEachResult) {
  // Two nodes of the given numbers of bytes, one behind the other: Expand, and Slice or Tile.
  const SizeCase c = GetParam();
  Value* seed = g.add_constant("seed", Tensor::from<uint8_t>(Shape{1}, std::vector<uint8_t>{7}));
  Value* first = node("Expand", {seed, ints("n", {c.bytes0})}, "t0");
  g.outputs = {c.bytes1 <= c.bytes0 ? node("Slice", {first, ints("from", {0}), ints("to", {c.bytes1})}, "t1")
                                    : node("Tile", {first, ints("times", {c.bytes1 / c.bytes0})}, "t1")};
  fold_constants(model, {.size_threshold = c.threshold});
  EXPECT_EQ(value("t0")->is_constant(), c.fold0);
  EXPECT_EQ(value("t1")->is_constant(), c.fold1);
}

INSTANTIATE_TEST_SUITE_P(AsGraphSurgeon, FoldSizeTest,
                         testing::Values(SizeCase{std::nullopt, 2, true, 4, true},
                                         SizeCase{8, 2, true, 4, true}, SizeCase{8, 2, true, 1, true},
                                         SizeCase{1, 2, false, 4, false}, SizeCase{3, 2, true, 4, false},
                                         SizeCase{3, 4, false, 2, true}));

TEST_F(FoldTest, NothingGrowsByMoreThanTheLimit) {
  const int64_t n = kMaxGrowth / 4;
  Value* big = node("ConstantOfShape", {ints("n", {2 * n})}, "big");
  Value* bigger = node("Add", {big, floats("one", {1})}, "bigger");  // not freed by what is only computed
  g.outputs = {bigger, node("ReduceSum", {big}, "sum", {{"keepdims", int64_t{0}}})};
  EXPECT_EQ(folded_ops(), (Ops{"ConstantOfShape", "Add"}));
  ASSERT_EQ(report.too_large.size(), 2U);
  EXPECT_EQ(report.too_large[0].node, "'bigger_node' (Add)");
  EXPECT_TRUE(value("sum")->is_constant());
}

TEST_F(FoldTest, StringsAreAsLargeAsTheirCharacters) {
  Value* word = g.add_constant("word", Tensor::vector<std::string>({std::string(1000, 'x')}));
  g.outputs = {node("Expand", {word, ints("many", {kMaxGrowth / 500})}, "y"),
               node("Expand", {word, ints("few", {100})}, "z")};
  EXPECT_EQ(folded_ops(), Ops{"Expand"});
  ASSERT_EQ(report.too_large.size(), 1U);
  EXPECT_EQ(report.too_large[0].node, "'y_node' (Expand)");
}

TEST_F(FoldTest, WhatReplacesAnInitializerMayBeAsLarge) {
  const int64_t n = kMaxGrowth / 2;
  Value* w = g.add_constant("w", Tensor::zeros(DType::kFloat32, Shape{2, n}));
  Value* flat = node("Reshape", {w, ints("shape", {n, 2})}, "flat");
  g.outputs = {node("Transpose", {flat}, "y")};
  EXPECT_EQ(folded_ops(), Ops{});
  Value* shared = g.add_constant("shared", Tensor::zeros(DType::kFloat32, Shape{n}));
  g.outputs = {node("Neg", {shared}, "a"), node("Abs", {shared}, "b")};
  EXPECT_EQ(folded_ops(), (Ops{"Neg", "Abs"}));
}

// ---------------------------------------------------------------- shapes

struct PickCase {
  Dims dims;
  std::string op;
  Ints a, b, axes, steps;  // Gather: indices; Slice: starts, ends
  std::optional<Ints> expected;
};

const Dim kUnknown, kB = Dim::symbol("b"), kH = Dim::symbol("h"), kW = Dim::symbol("w");

class PickTest : public FoldTest, public testing::WithParamInterface<PickCase> {};

TEST_P(PickTest, KnownExtentsAreEnough) {
  const PickCase& c = GetParam();
  Value* shape = node("Shape", {input("x", DType::kFloat32, c.dims)}, "shape");
  std::vector<Value*> inputs = {shape, ints("a", c.a)};
  if (c.op == "Slice") inputs.push_back(ints("b", c.b));
  if (!c.axes.empty() || !c.steps.empty()) inputs.push_back(c.axes.empty() ? nullptr : ints("axes", c.axes));
  if (!c.steps.empty()) inputs.push_back(ints("steps", c.steps));
  g.outputs = {node(c.op, inputs, "y")};
  folded_ops();
  EXPECT_EQ(value("y")->is_constant(), c.expected.has_value());
  if (c.expected) {
    EXPECT_EQ(value("y")->tensor().to_int64(), *c.expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gather, PickTest,
    testing::Values(PickCase{{kB, 3, kH, kW}, "Gather", {1}, {}, {}, {}, Ints{3}},
                    PickCase{{kB, 3, kH, 224}, "Gather", {1, 3}, {}, {}, {}, Ints{3, 224}},
                    PickCase{{kB, 3, kH, 224}, "Gather", {-1, -3}, {}, {}, {}, Ints{224, 3}},
                    PickCase{{kB, 3, 224, 224}, "Gather", {1, 2, 3}, {}, {}, {}, Ints{3, 224, 224}},
                    PickCase{{kB, 3, 0, kUnknown}, "Gather", {2}, {}, {}, {}, Ints{0}},
                    PickCase{{kB, 3, 224, 224}, "Gather", {0}, {}, {}, {}, std::nullopt},
                    PickCase{{3, 4, kUnknown}, "Gather", {2}, {}, {}, {}, std::nullopt}));
INSTANTIATE_TEST_SUITE_P(
    Slice, PickTest,
    testing::Values(PickCase{{kB, 3, kH, kW}, "Slice", {1}, {2}, {0}, {1}, Ints{3}},
                    PickCase{{kB, 3, 5, kW}, "Slice", {1}, {-1}, {}, {}, Ints{3, 5}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {1}, {2000}, {0}, {1}, Ints{3, 5, 7}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {-2}, {4}, {0}, {1}, Ints{5, 7}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {1}, {4}, {0}, {2}, Ints{3, 7}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {4}, {0}, {0}, {-1}, Ints{7, 5, 3}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {-1}, {INT64_MIN}, {0}, {-1}, std::nullopt},
                    PickCase{{2, 3, 5, 7}, "Slice", {-1}, {INT64_MIN}, {-1}, {-1}, Ints{7, 5, 3, 2}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {0}, {2}, {}, {}, std::nullopt},
                    PickCase{{kB, 3, 5, 7}, "Slice", {3}, {1}, {}, {}, Ints{}}));

TEST_F(FoldTest, ShapeKnowsStartAndEnd) {
  Value* x = input("x", DType::kFloat32, {kB, 3, 4, 5});
  const auto shape = [&](const char* name, AttributeList a) {
    return node("Shape", {x}, name, std::move(a));
  };
  g.outputs = {shape("all", {}), shape("from_1", {{"start", int64_t{1}}}),
               shape("last", {{"start", int64_t{-1}}}),
               shape("mid", {{"start", int64_t{1}}, {"end", int64_t{-1}}}),
               shape("none", {{"start", int64_t{3}}, {"end", int64_t{1}}})};
  EXPECT_EQ(folded_ops(), Ops{"Shape"});
  EXPECT_EQ(value("from_1")->tensor().to_int64(), (Ints{3, 4, 5}));
  EXPECT_EQ(value("last")->tensor().to_int64(), Ints{5});
  EXPECT_EQ(value("mid")->tensor().to_int64(), (Ints{3, 4}));
  EXPECT_EQ(value("none")->tensor().shape(), Shape{0});
}

TEST_F(FoldTest, SizeNeedsAllExtentsAndUnknownRanksGiveNothing) {
  Value* ranked = input("x", DType::kFloat32, {2, 3});
  Value* open = g.add_input("o", Type::tensor(DType::kFloat32));
  g.outputs = {node("Size", {ranked}, "six"), node("Size", {input("s", DType::kFloat32, {kB, 3})}, "n"),
               node("Shape", {open}, "shape")};
  EXPECT_EQ(folded_ops(), (Ops{"Size", "Shape"}));
  EXPECT_EQ(value("six")->tensor().to_int64(), Ints{6});
  EXPECT_EQ(value("six")->tensor().shape(), Shape{});
}

TEST_F(FoldTest, ExtentsAreFollowedThroughSeveralPicks) {
  Value* shape = node("Shape", {input("x", DType::kFloat32, {kB, 3, 5, 7})}, "shape");
  Value* tail = node("Slice", {shape, ints("from", {1}), ints("to", {4})}, "tail");
  Value* one = node("Gather", {tail, g.add_constant("i", Tensor::scalar<int64_t>(-1))}, "one");
  g.outputs = {node("Unsqueeze", {one, ints("axes", {0})}, "y")};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(value("one")->tensor().shape(), Shape{});
  EXPECT_EQ(value("y")->tensor().to_int64(), Ints{7});
}

TEST_F(FoldTest, SliceOfOldOpsetsHasAttributes) {
  model.opsets = {{"", 9}};
  Value* shape = node("Shape", {input("x", DType::kFloat32, {kB, 3, 5, 7})}, "shape");
  g.outputs = {node("Slice", {shape}, "y", {{"starts", Ints{2}}, {"ends", Ints{4}}})};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(value("y")->tensor().to_int64(), (Ints{5, 7}));
}

TEST_F(FoldTest, ShapesStayOnRequest) {
  g.outputs = {node("Shape", {input("x", DType::kFloat32, {2, 3})}, "y")};
  EXPECT_EQ(folded_ops({.fold_shapes = false}), Ops{"Shape"});
}

// ---------------------------------------------------------------- subgraphs

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

// ---------------------------------------------------------------- functions

class FoldFunctionTest : public FoldTest {
 protected:
  /// scaled(x) = x * Constant(factor) + (1 + 2)
  Function& add_scaled() {
    Function& f = add_function(model, "scaled");
    Graph& body = *f.body;
    f.attribute_names = {"factor"};
    Value* x = body.add_input("x", {});
    Value *factor = body.add_value("factor"), *one = body.add_value("one"), *three = body.add_value("three"),
          *product = body.add_value("product"), *y = body.add_value("y");
    Node* parameter = body.add_node("Constant", {}, {factor}, {{"value_float", 0.0F}}, "parameter");
    parameter->attributes[0].ref_attr_name = "factor";
    body.add_node("Constant", {}, {one}, {{"value_float", 1.0F}}, "one");
    body.add_node("Add", {one, one}, {three}, {}, "sum");
    body.add_node("Mul", {x, factor}, {product}, {}, "mul");
    body.add_node("Add", {product, three}, {y}, {}, "add");
    body.outputs = {y};
    return f;
  }
};

TEST_F(FoldFunctionTest, CallsOnConstantsFold) {
  const Function& f = add_scaled();
  Value* y = call_function(g, f, {floats("w", {1, 2})}, {}, {.attributes = {{"factor", 3.0F}}})[0];
  g.outputs = {y};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(floats_of(y), (std::vector<float>{5, 8}));
}

TEST_F(FoldFunctionTest, BodiesKeepParametersAndHoldNoInitializers) {
  const Function& f = add_scaled();
  Value* y =
      call_function(g, f, {input("x", DType::kFloat32, {2})}, {}, {.attributes = {{"factor", 3.0F}}})[0];
  y->type = Type::tensor(DType::kFloat32, Dims{2});
  g.outputs = {y};
  folded_ops({.recurse_functions = false});
  EXPECT_EQ(ops(*f.body).size(), 5U);
  folded_ops();
  EXPECT_EQ(ops(*f.body), (Ops{"Constant", "Constant", "Mul", "Add"}));
  EXPECT_EQ(f.body->nodes()[1]->name, "parameter");
  const auto bytes = std::make_shared<std::string>(serialize_model(model));
  EXPECT_NO_THROW(parse_model(*bytes, bytes, "test"));
}

/// Functions f0, f1, ..., each of which calls the next one so often; the last one calls `last`.
void add_callers(Model& model, int count, int often, const std::string& last) {
  for (int i = 0; i < count; ++i) {
    Function& f = add_function(model, "f" + std::to_string(i));
    Value* v = f.body->add_input("x", {});
    for (int k = 0; k < often; ++k) {
      Value* y = f.body->add_value("y" + std::to_string(k));
      if (i + 1 < count)
        f.body->add_node("f" + std::to_string(i + 1), {v}, {y}, {}, "", f.domain);
      else
        f.body->add_node(last, {v}, {y}, {}, "", last == "f0" ? f.domain : "");
      v = y;
    }
    f.body->outputs = {v};
  }
}

TEST_F(FoldFunctionTest, CallsInCirclesAreNotFolded) {
  add_callers(model, 3, 1, "f0");
  g.outputs = {call_function(g, model.functions[0], {floats("w", {1})})[0]};
  EXPECT_EQ(folded_ops(), Ops{"f0"});
  EXPECT_EQ(report.failed.size(), 1U);
}

TEST_F(FoldFunctionTest, CallsAsDeepAsTheStackOrDoubledAtEachLevelAreNotFolded) {
  for (const auto& [count, often] : {std::pair(50000, 1), std::pair(60, 2)}) {
    model.functions.clear();
    g.outputs.clear();
    g.remove_nodes_if([](const Node&) { return true; });
    add_callers(model, count, often, "Neg");
    const std::string w = "w" + std::to_string(count);
    g.outputs = {call_function(g, model.functions[0], {floats(w, {1})})[0]};
    EXPECT_EQ(folded_ops({.recurse_functions = false}), Ops{"f0"});
    ASSERT_EQ(report.failed.size(), 1U) << count << ": " << (report.failed.empty() ? "" : report.failed.back().node + ": " + report.failed.back().reason);
  }
}

TEST_F(FoldFunctionTest, CallsThatDrawRandomNumbersAreNotFolded) {
  add_callers(model, 5, 1, "RandomNormalLike");
  g.outputs = {call_function(g, model.functions[0], {floats("w", {1})})[0]};
  EXPECT_EQ(folded_ops(), Ops{"f0"});
  EXPECT_TRUE(report.failed.empty());
}

// ---------------------------------------------------------------- time

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

// ---------------------------------------------------------------- subgraphs inside subgraphs

/// An If over `cond` in `graph` whose branches give out what `then_op` and Neg make of v.
Value* add_if(Graph& graph, Value* cond, Value* v, const std::string& prefix, const std::string& then_op = "Abs") {
  const auto branch = [&](const std::string& op, const std::string& name) {
    auto b = std::make_shared<Graph>();
    b->name = name;
    b->set_parent(&graph);
    b->outputs = {b->add_value(name)};
    b->add_node(op, {v}, {b->outputs[0]}, {}, name + "_node");
    return b;
  };
  Value* y = graph.add_value(prefix + "y");
  graph.add_node("If", {cond}, {y},
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
}  // namespace assay
