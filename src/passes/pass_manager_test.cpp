#include "passes/pass_manager.h"

#include <gtest/gtest.h>

#include "analysis/match.h"
#include "naming/origins.h"
#include "passes/edit_hook.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_manager_test {
namespace {

using Names = std::vector<std::string>;

class PassManagerTest : public testing::Test {
 protected:
  PassManagerTest() { model.opsets = {{"", 17}}; }
  Value* node(const std::string& op, std::vector<Value*> inputs, const std::string& output) {
    Value* y = g.add_value(output, kType);
    g.add_node(op, std::move(inputs), {y}, {}, output + "_node");
    return y;
  }
  Names names() const {
    Names list;
    for (const auto& n : g.nodes()) list.push_back(n->name);
    return list;
  }
  int64_t run(const PassDef& pass, const PassOptions& options = {.verify = true}) {
    const PassDef* const list[] = {&pass};
    return run_passes(model, list, options)[0].edits;
  }

  const Type kType = Type::tensor(DType::kFloat32, Dims{2});
  Model model;
  Graph& g = *model.graph;
  Value* x = g.add_input("x", kType);
};

TEST_F(PassManagerTest, RemovesChainsOfIdentity) {
  Value* v = x;
  for (int i = 0; i < 100; ++i) v = node("Identity", {v}, "i" + std::to_string(i));
  g.outputs = {node("Relu", {v}, "y")};
  EXPECT_EQ(run(pass_eliminate_identity::def), 100);
  EXPECT_EQ(names(), Names{"y_node"});
  EXPECT_EQ(g.nodes()[0]->input(0), x);
  EXPECT_EQ(g.values().size(), 2U);
}

TEST_F(PassManagerTest, ReplacesEveryUseOfANodeThatUsesAValueOften) {
  Value* same = node("Identity", {x}, "same");
  g.outputs = {node("Sum", {same, x, same, same}, "y"), node("Neg", {same}, "z")};
  EXPECT_EQ(run(pass_eliminate_identity::def), 1);
  EXPECT_EQ(g.nodes()[0]->inputs(), (std::vector<Value*>{x, x, x, x}));
  EXPECT_EQ(x->consumers().size(), 5U);
}

TEST_F(PassManagerTest, WhatARegionStandsForIsNotMatchedAgain) {
  g.outputs = {node("Mul", {x, node("Sigmoid", {x}, "s")}, "y")};
  EXPECT_EQ(run(pass_fuse_silu::def, {.verify = true, .recurse_subgraphs = true}), 1);
  ASSERT_EQ(g.nodes().size(), 1U);
  EXPECT_EQ(body_of(*g.nodes()[0]).nodes().size(), 2U);
  dissolve_regions(model, [](const Node&) { return true; });
  EXPECT_EQ(names(), (Names{"s_node", "y_node"}));
  EXPECT_EQ(g.outputs[0]->producer(), g.nodes()[1].get());
}

TEST_F(PassManagerTest, OutputsKeepTheirNames) {
  Value* r = node("Relu", {x}, "r");
  g.outputs = {node("Identity", {node("Identity", {r}, "s")}, "y")};
  Value* other = node("Neg", {r}, "other");
  g.outputs.push_back(other);
  EXPECT_EQ(run(pass_eliminate_identity::def), 2);
  EXPECT_EQ(g.outputs[0]->name(), "y");
  EXPECT_EQ(g.outputs[0]->producer()->op_type, "Relu");
  EXPECT_EQ(other->producer()->input(0), g.outputs[0]);
}

/// Neg of Neg of anything becomes Abs twice: new nodes, in the place of the second one.
std::optional<Patch> match_double_neg(const Node& n, const PassContext& context) {
  const Node* first = is_op(n, "Neg") ? producer_of(n.input(0), "Neg") : nullptr;
  if (first == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  Patch patch(n);
  patch.remove(*first);
  patch.remove(n);
  const Patch::Ref inner = patch.add("Abs", {first->input(0)}, {}, nullptr, n.output(0)->type);
  patch.add("Abs", {inner}, {}, n.output(0));
  return patch;
}
const PassDef kDoubleNeg = {.name = "double_neg", .summary = "", .match = match_double_neg};

TEST_F(PassManagerTest, NewNodesStandInPlaceAndRememberTheOldOnes) {
  Value* a = node("Neg", {x}, "a");
  Value* between = node("Relu", {x}, "between");
  Value* b = node("Neg", {a}, "b");
  g.outputs = {node("Add", {b, between}, "y")};
  EXPECT_EQ(run(kDoubleNeg), 1);
  EXPECT_EQ(names(), (Names{"between_node", "a_node", "a_node", "y_node"}));
  EXPECT_EQ(origins_of(*g.nodes()[1]), (Names{"a_node", "b_node"}));
  EXPECT_EQ(g.nodes()[2]->output(0), b);
}

TEST_F(PassManagerTest, StopsAfterSoManyEdits) {
  Value* v = x;
  for (int i = 0; i < 10; ++i) v = node("Neg", {v}, "n" + std::to_string(i));
  g.outputs = {v};
  EXPECT_EQ(run(kDoubleNeg, {.max_edits = 3, .verify = true}), 3);
  EXPECT_EQ(std::count_if(g.nodes().begin(), g.nodes().end(), [](const auto& n) { return is_op(*n, "Neg"); }),
            4);
  EXPECT_EQ(run(kDoubleNeg), 2);
}

TEST_F(PassManagerTest, EditsThatAreNotAllowedAreNotMade) {
  Value* v = x;
  for (int i = 0; i < 6; ++i) v = node("Neg", {v}, "n" + std::to_string(i));
  g.outputs = {v};
  const auto run_with = [&](const PassDef& pass, const AllowsEdit& allows) {
    const PassDef* const list[] = {&pass};
    return run_passes(model, list, {.verify = true}, allows)[0].edits;
  };
  EXPECT_EQ(run_with(kDoubleNeg, [](const PassEdit& e) { return e.node->name != "n1_node"; }), 2);
  EXPECT_EQ(std::count_if(g.nodes().begin(), g.nodes().end(), [](const auto& n) { return is_op(*n, "Neg"); }),
            2);
  EXPECT_EQ(run_with(pass_eliminate_dead_code::def, [](const PassEdit& e) { return e.node != nullptr; }), 0)
      << "a pass over the whole model is one edit";
}

/// What a match makes may match with what stands before it.
std::optional<Patch> match_abs_of_relu(const Node& n, const PassContext&) {
  const Node* first = is_op(n, "Abs") ? producer_of(n.input(0), "Relu") : nullptr;
  if (first == nullptr) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.replace(n.output(0), n.input(0));
  return patch;
}
const PassDef kAbsOfRelu = {.name = "abs_of_relu", .summary = "", .match = match_abs_of_relu};

TEST_F(PassManagerTest, FindsWhatAnEditMakesPossible) {
  Value* v = node("Relu", {x}, "r");
  for (int i = 0; i < 5; ++i) v = node("Abs", {v}, "a" + std::to_string(i));
  g.outputs = {node("Neg", {v}, "y")};
  EXPECT_EQ(run(kAbsOfRelu), 5);
  EXPECT_EQ(names(), (Names{"r_node", "y_node"}));
}

TEST_F(PassManagerTest, EqualNodesAreMergedAndNamed) {
  std::vector<Value*> branches;
  for (int i = 0; i < 4; ++i)
    branches.push_back(node("Neg", {node("Relu", {x}, "r" + std::to_string(i))}, "n" + std::to_string(i)));
  g.outputs = {node("Sum", branches, "y")};
  EXPECT_EQ(run(pass_eliminate_common_subexpressions::def), 1);
  EXPECT_EQ(names(), (Names{"r0_node", "n0_node", "y_node"}));
  EXPECT_EQ(origins_of(*g.nodes()[0]), (Names{"r0_node", "r1_node", "r2_node", "r3_node"}));
  EXPECT_EQ(g.nodes()[2]->inputs(), std::vector<Value*>(4, branches[0]));
}

TEST_F(PassManagerTest, NodesOfAPatternGetAnOrder) {
  Value* a = node("Relu", {x}, "a");
  Value* b = node("Neg", {x}, "b");
  Value* c = node("Add", {b, a}, "c");
  const std::vector<const Node*> nodes =
      in_order({c->producer(), b->producer(), a->producer(), c->producer()});
  EXPECT_EQ(nodes, (std::vector<const Node*>{b->producer(), a->producer(), c->producer()}));
}

TEST_F(PassManagerTest, VerifyNamesTheNodeThatComesTooEarly) {
  Value* a = node("Relu", {x}, "a");
  g.outputs = {node("Neg", {a}, "y")};
  Node* const order[] = {g.nodes()[1].get(), g.nodes()[0].get()};
  g.reorder_nodes(order);
  EXPECT_THROW(verify_graph(g), Error);
}

}  // namespace
}  // namespace assay::pass_manager_test
