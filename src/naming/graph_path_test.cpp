#include "naming/graph_path.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "naming/selector.h"

namespace assay::graph_path_test {
namespace {

using Names = std::vector<std::string>;

/// A subgraph with one Relu, whose output is `name`.
std::shared_ptr<Graph> body_of(Graph& parent, const std::string& name) {
  auto g = std::make_shared<Graph>();
  g->set_parent(&parent);
  g->outputs = {g->add_value(name)};
  g->add_node("Relu", {parent.inputs.empty() ? nullptr : parent.inputs[0]}, {g->outputs[0]}, {},
              name + "_relu");
  return g;
}

/// Scans with the names that a test wants.
std::shared_ptr<Model> model_with(const Names& scans) {
  auto m = std::make_shared<Model>();
  Graph& g = *m->graph;
  g.add_input("x", {});
  for (size_t i = 0; i < scans.size(); ++i) {
    const std::string number = std::to_string(i);
    g.add_node("Scan", {g.inputs[0]}, {g.add_value("out" + number)}, {{"body", body_of(g, "in" + number)}},
               scans[i]);
  }
  return m;
}

Names paths(const Model& m) {
  Names list;
  for (const GraphPlace& p : graph_places(m)) list.push_back(p.has_path ? p.path : "?");
  return list;
}

TEST(GraphPaths, NameEveryGraph) {
  const auto m = model_with({"a", "", "a"});
  Graph& inner = *m->graph->nodes()[0]->attributes[0].get_if<std::shared_ptr<Graph>>()->get();
  inner.add_node("If", {}, {inner.add_value("v")},
                 {{"then_branch", body_of(inner, "t")},
                  {"others", Attribute::Graphs{body_of(inner, "p"), body_of(inner, "q")}}});
  Function& f = m->functions.emplace_back();
  f.name = "F";
  f.domain = "d";
  f.body->add_node("Loop", {}, {}, {{"body", body_of(*f.body, "l")}}, "loop");
  Function& g = m->functions.emplace_back();
  g.name = "F";
  g.domain = "d";
  g.overload = "2";
  EXPECT_EQ(paths(*m), (Names{"", "a::body", "a::body::v::then_branch", "a::body::v::others[0]",
                              "a::body::v::others[1]", "out1::body", "out2::body", "function:d.F",
                              "function:d.F::loop::body", "function:d.F:2"}));
  GraphPaths find(*m);
  for (const GraphPlace& p : graph_places(*m)) {
    EXPECT_EQ(find.graph(p.path), p.graph) << p.path;
    EXPECT_EQ(p.holders.size(), p.path == "a::body::v::others[1]" ? 2u : p.holders.size());
  }
  EXPECT_THROW(find.graph("function:F"), Error);  // one of two
  EXPECT_EQ(find.graph("a"), find.graph("a::body"));
}

TEST(GraphPaths, TakeTheLongestName) {
  const auto m = model_with({"a", "a::body", "a::b::c"});
  EXPECT_EQ(paths(*m), (Names{"", "out0::body", "a::body::body", "a::b::c::body"}));
  EXPECT_EQ(select_values(*m, "a::b::c::in2")[0]->name(), "in2");
  EXPECT_EQ(select_values(*m, "a::body::in1")[0]->name(), "in1");
  EXPECT_EQ(select_nodes(*m, "a::b::c::body::in2_relu").size(), 1u);
  EXPECT_EQ(select_nodes(*m, "a::b::c").size(), 1u);  // the node itself
}

TEST(GraphPaths, ANameThatHoldsTheSeparatorIsNoPath) {
  const auto m = model_with({"loop"});
  Graph& g = *m->graph;
  g.add_node("Relu", {g.inputs[0]}, {g.add_value("torch::relu")}, {}, "torch::node");
  EXPECT_EQ(select_values(*m, "torch::relu").size(), 1u);
  EXPECT_EQ(select_values(*m, "torch::*").size(), 1u);
  EXPECT_EQ(select_values(*m, "re:torch::.*").size(), 1u);
  EXPECT_EQ(select_nodes(*m, "torch::*").size(), 1u);
  EXPECT_EQ(select_nodes(*m, "torch::node").size(), 1u);
  EXPECT_THROW(select_nodes(*m, "tor::*"), Error);
}

TEST(GraphPaths, SayWhereNoneIs) {
  const auto m = model_with({"loop"});
  const auto error = [&](const std::string& path) -> std::string {
    try {
      GraphPaths(*m).graph(path);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("lop"), "Node: lop does not exist in the model. Did you mean 'loop'?");
  EXPECT_EQ(error("function:G"), "Function: G does not exist in the model");
  EXPECT_EQ(error("loop::in0_relu"), "the node 'in0_relu' holds no subgraph");
  EXPECT_EQ(error("re:.*"), "'re:.*' is not a path of a graph");
}

}  // namespace
}  // namespace assay::graph_path_test
