#include "assay/pattern.h"

#include <gtest/gtest.h>

namespace assay::pattern_test {
namespace {

class PatternTest : public testing::Test {
 protected:
  Value* value(const std::string& name) {
    Value* v = g.find_value(name);
    return v != nullptr ? v : g.add_value(name);
  }
  Node* node(const std::string& op, const std::string& name, std::vector<std::string> inputs,
             std::vector<std::string> outputs, AttributeList attributes = {}) {
    std::vector<Value*> in, out;
    for (const auto& i : inputs) in.push_back(value(i));
    for (const auto& o : outputs) out.push_back(value(o));
    return g.add_node(op, in, out, std::move(attributes), name);
  }
  void inputs(std::vector<std::string> names) {
    for (const auto& n : names) g.inputs.push_back(value(n));
  }
  void outputs(std::vector<std::string> names) {
    g.outputs.clear();
    for (const auto& n : names) g.outputs.push_back(value(n));
  }
  Model model;
  Graph& g = *model.graph;
};

/// A and B feed C (attribute x below 2), which feeds D and E.
GraphPattern hourglass() {
  GraphPattern p;
  const auto a = p.variable(), b = p.variable();
  const auto left = p.add("A", "A", {a})[0], right = p.add("B", "B", {b})[0];
  const auto middle = p.add("C", "C", {left, right}, 1, [](const Node& n) {
    const Attribute* x = n.find_attribute("x");
    return x != nullptr && *x->get_if<float>() < 2;
  })[0];
  const auto d = p.add("D", "D", {middle})[0], e = p.add("E", "E", {middle})[0];
  p.set_outputs({d, e});
  return p;
}

class HourglassTest : public PatternTest {
 protected:
  void build(float x) {
    inputs({"i1"});
    node("A", "n1", {"i0"}, {"i1"});
    node("A", "n2", {"i1"}, {"a"});
    node("B", "n3", {"i1"}, {"b"});
    node("C", "n4", {"a", "b"}, {"c"}, {{"x", x}});
    node("D", "n5", {"c"}, {"o1"});
    node("E", "n6", {"c"}, {"o2"});
    outputs({"o1", "o2"});
  }
};

TEST_F(HourglassTest, IsFoundWithOneValueForTwoInputs) {
  build(1);
  const std::vector<PatternMapping> found = hourglass().match_all(g);
  ASSERT_EQ(found.size(), 1U);
  const PatternMapping& m = found[0];
  EXPECT_EQ(m.node("A")->name, "n2");
  EXPECT_EQ(m.node("C")->name, "n4");
  EXPECT_EQ(m.node("E")->name, "n6");
  EXPECT_EQ(m.node("nobody"), nullptr);
  EXPECT_EQ(m.inputs()[0]->name(), "i1");
  EXPECT_EQ(m.inputs()[1]->name(), "i1");
  EXPECT_EQ(m.outputs()[1]->name(), "o2");
  EXPECT_EQ(m.nodes().size(), 5U);
}

TEST_F(HourglassTest, ACheckThatFailsIsNoMatch) {
  build(3);
  EXPECT_TRUE(hourglass().match_all(g).empty());
}

TEST_F(HourglassTest, WhatLiesInsideMustNotBeAGraphOutput) {
  build(1);
  outputs({"o1", "o2", "c"});
  EXPECT_TRUE(hourglass().match_all(g).empty());
}

TEST_F(HourglassTest, WhatLiesInsideMustNotBeUsedElsewhere) {
  build(1);
  node("F", "n7", {"a"}, {"o3"});
  EXPECT_TRUE(hourglass().match_all(g).empty());
}

TEST_F(PatternTest, APatternOutputMayHaveOtherUsers) {
  inputs({"x"});
  node("A", "a", {"x"}, {"h"});
  node("B", "b", {"h"}, {"y"});
  outputs({"y"});
  GraphPattern p;
  const auto h = p.add("A", "A", {p.variable()});
  EXPECT_TRUE(p.match_all(g).empty());
  p.set_outputs(h);
  EXPECT_EQ(p.match_all(g).size(), 1U);
}

TEST_F(PatternTest, PatternsNest) {
  inputs({"x"});
  node("A", "n1", {"x"}, {"a1"});
  node("A", "n2", {"x"}, {"a2"});
  node("B", "n3", {"a1"}, {"b1"});
  node("B", "n4", {"a2"}, {"b2"});
  node("C", "n5", {"b1", "b2"}, {"y"});
  outputs({"y"});
  GraphPattern side;
  side.set_outputs(side.add("B", "B", side.add("A", "A", {side.variable()})));
  GraphPattern whole;
  const auto x = whole.variable();
  const auto left = whole.add("left", side, {x})[0], right = whole.add("right", side, {x})[0];
  whole.set_outputs(whole.add("C", "C", {left, right}));
  const std::vector<PatternMapping> found = whole.match_all(g);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].pattern("left")->node("A")->name, "n1");
  EXPECT_EQ(found[0].pattern("left")->node("B")->name, "n3");
  EXPECT_EQ(found[0].pattern("right")->node("B")->name, "n4");
  EXPECT_EQ(found[0].pattern("right")->inputs()[0]->name(), "x");
  EXPECT_EQ(found[0].node("C")->name, "n5");
}

TEST_F(PatternTest, ConstantsAreInitializersOnly) {
  inputs({"x"});
  g.add_constant("w", Tensor::vector<float>({1}));
  node("Constant", "k", {}, {"c"});
  node("Add", "with_initializer", {"x", "w"}, {"h"});
  node("Add", "with_node", {"h", "c"}, {"y"});
  outputs({"y"});
  GraphPattern p;
  const auto x = p.variable(), w = p.constant("weight");
  p.set_outputs(p.add("add", "Add", {x, w}));
  const std::vector<PatternMapping> found = p.match_all(g);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].node("add")->name, "with_initializer");
  EXPECT_EQ(found[0].constant("weight")->name(), "w");
}

TEST_F(PatternTest, BacktracksOverConsumers) {
  // The first B after A is a dead end; the second matches.
  inputs({"x"});
  node("A", "a", {"x"}, {"h"});
  node("B", "dead_end", {"h"}, {"b1"});
  node("B", "right", {"h"}, {"b2"});
  node("C", "c", {"b2"}, {"y"});
  outputs({"y"});
  GraphPattern p;
  const auto h = p.add("A", "A", {p.variable()})[0];
  const auto y = p.add("C", "C", p.add("B", "B", {h}))[0];
  p.set_outputs({h, y});
  const std::vector<PatternMapping> found = p.match_all(g);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].node("B")->name, "right");
}

/// Max(Min(x, a), b) with constants a and b.
GraphPattern min_max() {
  GraphPattern p;
  const auto x = p.variable(), high = p.constant("high"), low = p.constant("low");
  p.set_outputs(p.add("max", "Max", {p.add("min", "Min", {x, high})[0], low}));
  return p;
}

TEST_F(PatternTest, MatchesAreReplacedWhereTheyWere) {
  inputs({"x"});
  for (const char* w : {"a", "b"}) g.add_constant(w, Tensor::vector<float>({1}));
  node("Min", "min0", {"x", "a"}, {"h0"});
  node("Max", "max0", {"h0", "b"}, {"y0"});
  node("Relu", "relu", {"y0"}, {"r"});
  node("Min", "min1", {"r", "a"}, {"h1"});
  node("Max", "max1", {"h1", "b"}, {"y1"});
  node("Neg", "neg", {"y1"}, {"z"});
  outputs({"z"});
  const auto clip = [](Graph& graph, const PatternMapping& m) {
    EXPECT_EQ(m.node("min")->op_type, "Min");
    EXPECT_TRUE(m.node("min")->inputs().empty());
    graph.add_node("Clip", {m.inputs()[0], m.constant("low"), m.constant("high")}, m.outputs(), {}, "clip");
  };
  EXPECT_EQ(replace_all(g, min_max(), clip), 2);
  std::vector<std::string> names;
  for (const auto& n : g.nodes()) names.push_back(n->name);
  EXPECT_EQ(names, (std::vector<std::string>{"clip", "relu", "clip", "neg"}));
  EXPECT_EQ(g.nodes()[2]->input(0)->name(), "r");
  EXPECT_EQ(g.nodes()[2]->output(0)->name(), "y1");
  EXPECT_EQ(replace_all(g, min_max(), clip), 0);
}

TEST_F(PatternTest, OverlappingMatchesAreReplacedOnce) {
  inputs({"x"});
  node("Neg", "n0", {"x"}, {"a"});
  node("Neg", "n1", {"a"}, {"b"});
  node("Neg", "n2", {"b"}, {"c"});
  outputs({"c"});
  GraphPattern p;
  const auto x = p.variable();
  p.set_outputs(p.add("second", "Neg", p.add("first", "Neg", {x})));
  ASSERT_EQ(p.match_all(g).size(), 2U);
  const int64_t replaced = replace_all(g, p, [](Graph& graph, const PatternMapping& m) {
    graph.add_node("Identity", m.inputs(), m.outputs(), {}, "same");
  });
  EXPECT_EQ(replaced, 1);
  ASSERT_EQ(g.nodes().size(), 2U);
  EXPECT_EQ(g.nodes()[0]->name, "same");
  EXPECT_EQ(g.nodes()[1]->name, "n2");
}

TEST_F(PatternTest, AReplacementMustComputeTheOutputs) {
  inputs({"x"});
  node("Neg", "n0", {"x"}, {"a"});
  outputs({"a"});
  GraphPattern p;
  p.set_outputs(p.add("n", "Neg", {p.variable()}));
  EXPECT_THROW(replace_all(g, p, [](Graph&, const PatternMapping&) {}), Error);
}

TEST_F(PatternTest, AnEmptyPatternIsRefused) {
  GraphPattern p;
  EXPECT_THROW(p.match_all(g), Error);
  p.variable();
  EXPECT_THROW(p.match_all(g), Error);
}

}  // namespace
}  // namespace assay::pattern_test
