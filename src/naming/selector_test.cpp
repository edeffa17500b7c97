#include "naming/selector.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::selector_test {
namespace {

using Names = std::vector<std::string>;

/// Two Conv, a Relu and a Loop with one node in its body, and names that look like patterns.
std::shared_ptr<Model> model() {
  auto m = std::make_shared<Model>();
  Graph& g = *m->graph;
  Value* x = g.add_input("x", {});
  Value *a = g.add_value("conv_a"), *b = g.add_value("conv_b"), *c = g.add_value("odd*name"),
        *d = g.add_value("d");
  g.add_node("Conv", {x}, {a}, {}, "c1");
  g.add_node("Conv", {a}, {b}, {}, "c2");
  g.add_node("Gelu", {b}, {c}, {}, "gelu", "com.microsoft");
  auto body = std::make_shared<Graph>();
  body->set_parent(&g);
  Value* inner = body->add_value("inner");
  body->add_node("Relu", {c}, {inner}, {}, "r");
  body->outputs = {inner};
  g.add_node("Loop", {}, {d}, {{"body", body}}, "loop");
  auto then_branch = std::make_shared<Graph>(), else_branch = std::make_shared<Graph>();
  then_branch->set_parent(&g);
  else_branch->set_parent(&g);
  then_branch->add_value("t");
  else_branch->add_value("e");
  g.add_node("If", {}, {}, {{"then_branch", then_branch}, {"else_branch", else_branch}}, "if");
  g.outputs = {d};
  Function& f = m->functions.emplace_back();
  f.domain = "local";
  f.name = "F";
  f.body->add_input("p", {});
  return m;
}

Names values(Model& m, std::string_view spec) {
  Names names;
  for (const Value* v : select_values(m, spec)) names.push_back(v->name());
  return names;
}

Names nodes(Model& m, std::string_view spec) {
  Names names;
  for (const Node* n : select_nodes(m, spec)) names.push_back(n->name);
  return names;
}

std::string error_of(Model& m, std::string_view spec) {
  try {
    select_values(m, spec);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Selector, NamesAndPatterns) {
  const auto m = model();
  EXPECT_EQ(values(*m, "conv_a"), Names{"conv_a"});
  EXPECT_EQ(values(*m, "conv_*"), (Names{"conv_a", "conv_b"}));
  EXPECT_EQ(values(*m, "conv_[b-z]"), Names{"conv_b"});
  EXPECT_EQ(values(*m, "re:.*_(a|b)"), (Names{"conv_a", "conv_b"}));
  EXPECT_EQ(values(*m, "op:Conv"), (Names{"conv_a", "conv_b"}));
  EXPECT_EQ(values(*m, "op:com.microsoft.Gelu"), Names{"odd*name"});
  EXPECT_EQ(nodes(*m, "c?"), (Names{"c1", "c2"}));
  EXPECT_EQ(nodes(*m, "op:Loop"), Names{"loop"});
}

TEST(Selector, AnExactNameComesFirst) { EXPECT_EQ(values(*model(), "odd*name"), Names{"odd*name"}); }

TEST(Selector, PathsLeadInside) {
  const auto m = model();
  EXPECT_EQ(values(*m, "loop::inner"), Names{"inner"});
  EXPECT_EQ(values(*m, "loop::body::inner"), Names{"inner"});
  EXPECT_EQ(values(*m, "d::inner"), Names{"inner"});
  EXPECT_EQ(values(*m, "if::else_branch::e"), Names{"e"});
  EXPECT_EQ(values(*m, "function:F::p"), Names{"p"});
  EXPECT_EQ(values(*m, "function:local.F::p"), Names{"p"});
  EXPECT_EQ(nodes(*m, "loop::op:Relu"), Names{"r"});
  m->graph->nodes()[0]->name.clear();
  EXPECT_EQ(select_nodes(*m, "conv_a"), std::vector<Node*>{m->graph->nodes()[0].get()});
}

TEST(Selector, SaysWhatIsWrong) {
  const auto m = model();
  EXPECT_EQ(error_of(*m, "conv_c"),
            "Tensor: conv_c does not exist in the model. Did you mean 'conv_a', 'conv_b'?");
  EXPECT_EQ(error_of(*m, "zzz*"), "Tensor: zzz* does not exist in the model");
  EXPECT_EQ(error_of(*m, "convv_*"),
            "Tensor: convv_* does not exist in the model. Did you mean 'conv_a', 'conv_b'?");
  EXPECT_EQ(error_of(*m, "re:^convv_.$"),
            "Tensor: re:^convv_.$ does not exist in the model. Did you mean 'conv_a', 'conv_b'?");
  EXPECT_EQ(error_of(*m, "op:Comv"), "Tensor: op:Comv does not exist in the model. Did you mean 'op:Conv'?");
  EXPECT_EQ(error_of(*m, "loop::iner"),
            "Tensor: loop::iner does not exist in the model. Did you mean 'loop::inner'?");
  // An existing name in another graph.
  EXPECT_EQ(error_of(*m, "inner"),
            "Tensor: inner does not exist in the model. There is 'loop::body::inner'.");
  EXPECT_EQ(error_of(*m, "loop::conv_a"),
            "Tensor: loop::conv_a does not exist in the model. There is 'conv_a'.");
  EXPECT_NE(error_of(*m, "re:(").find("is not a regular expression"), std::string::npos);
  EXPECT_EQ(error_of(*m, "lop::inner"), "Node: lop does not exist in the model. Did you mean 'loop'?");
  EXPECT_NE(error_of(*m, "if::t").find("name one of them, then_branch, else_branch"), std::string::npos);
  EXPECT_EQ(error_of(*m, "c1::x"), "the node 'c1' holds no subgraph");
  EXPECT_EQ(error_of(*m, "function:G::p"), "Function: G does not exist in the model");
}

}  // namespace
}  // namespace assay::selector_test
