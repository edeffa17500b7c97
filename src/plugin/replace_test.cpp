#include "plugin/replace.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/log.h"
#include "naming/origins.h"
#include "plugin/plugin_test_util.h"

namespace assay::replace_test {
namespace {

using Names = std::vector<std::string>;

const PluginMatches kPlugin{.name = "toy", .op = "Toy", .domain = "mine"};

std::string replace(Model& model, const std::vector<PluginInstance>& instances) {
  PluginReplacer replacer(model);
  std::string reasons;
  for (const PluginInstance& i : instances) reasons += replacer.replace(kPlugin, i);
  replacer.finish();
  return reasons;
}

std::string error_of(Model& model, const std::vector<PluginInstance>& instances) {
  try {
    replace(model, instances);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(ReplaceByPlugin, keeps_names_and_remembers_nodes) {
  const auto model = toy_model();
  EXPECT_EQ(replace(*model, {{{"i1"}, {"o1", "o2"}, {{"n", int64_t{1}}, {"f", 0.5}, {"b", true}}}}), "");
  const Graph& g = *model->graph;
  EXPECT_EQ(graph_text(g), "O(i0)->i1 Toy(i1)->o1,o2 ");
  const Node& node = *g.nodes()[1];
  EXPECT_EQ(node.name, "toy_0");
  EXPECT_EQ(node.domain, "mine");
  EXPECT_EQ(model->opset("mine"), 1);
  EXPECT_EQ(origins_of(node), (Names{"n2", "n3", "n4", "n5", "n6"}));
  EXPECT_EQ(*node.find_attribute("n")->get_if<int64_t>(), 1);
  EXPECT_EQ(*node.find_attribute("f")->get_if<float>(), 0.5f);
  EXPECT_EQ(*node.find_attribute("b")->get_if<int64_t>(), 1);
  EXPECT_EQ(g.find_value("i3"), nullptr);
  EXPECT_TRUE(g.find_value("o1")->type.has_shape());
}

TEST(ReplaceByPlugin, keeps_what_others_need) {
  const auto model = toy_model();
  Graph& g = *model->graph;
  // A sibling that reads the same input, and an inner value that is an output.
  Value* s = g.add_value("s");
  g.add_node("S", {g.find_value("i1")}, {s}, {}, "sibling");
  g.outputs.push_back(s);
  g.outputs.push_back(g.find_value("i2"));
  EXPECT_EQ(replace(*model, {{{"i1"}, {"i4"}, {}}}), "");
  EXPECT_EQ(graph_text(g), "O(i0)->i1 A(i1)->i2 Toy(i1)->i4 D(i4)->o1 E(i4)->o2 S(i1)->s ");
}

TEST(ReplaceByPlugin, puts_lists_into_onnx_attributes) {
  const auto model = toy_model();
  using List = YamlNode::List;
  replace(*model, {{{"i1"},
                    {"i4"},
                    {{"i", List{int64_t{1}, int64_t{2}}},
                     {"f", List{int64_t{1}, 0.5}},
                     {"s", List{std::string("a")}},
                     {"e", List{}}}}});
  const Node& node = *model->graph->find_value("i4")->producer();
  EXPECT_EQ(*node.find_attribute("i")->get_if<std::vector<int64_t>>(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(*node.find_attribute("f")->get_if<std::vector<float>>(), (std::vector<float>{1, 0.5}));
  EXPECT_EQ(*node.find_attribute("s")->get_if<std::vector<std::string>>(), Names{"a"});
  EXPECT_TRUE(node.find_attribute("e")->get_if<std::vector<int64_t>>()->empty());
}

TEST(ReplaceByPlugin, leaves_overlapping_instances_alone) {
  const auto model = toy_model();
  EXPECT_EQ(replace(*model, {{{"i1"}, {"i4"}, {}}, {{"i1"}, {"i4"}, {}}}),
            "'i4' is computed by 'toy_0' (mine::Toy) already");
  const auto second = toy_model();
  second->graph->outputs.push_back(second->graph->find_value("i2"));
  EXPECT_EQ(replace(*second, {{{"i1"}, {"i4"}, {}}, {{"i1"}, {"i2"}, {}}}),
            "it shares 'n2' (A) with 'toy_0' (mine::Toy)");
  const auto third = toy_model();
  EXPECT_EQ(replace(*third, {{{"i1"}, {"i4"}, {}}, {{"i1"}, {"o1"}, {}}}),
            "'toy_0' (mine::Toy) stands inside it already");
}

TEST(ReplaceByPlugin, warns_of_inputs_that_get_lost) {
  const auto model = toy_model();
  log::Capture capture;
  replace(*model, {{{"i2"}, {"i4"}, {}}});
  EXPECT_EQ(capture.out(), "[W] The outputs of toy depend on 'i0' too, which is not among its inputs.\n");
}

TEST(ReplaceByPlugin, refuses_what_cannot_be) {
  const auto fresh = [](const PluginInstance& i) {
    const auto model = toy_model();
    return error_of(*model, {i});
  };
  EXPECT_EQ(fresh({{"I1"}, {"o1"}, {}}),
            "the model has no tensor 'I1', which is to be an input. Did you mean 'i1', 'i0', 'i2'?");
  EXPECT_EQ(fresh({{"i1"}, {"zzz"}, {}}), "the model has no tensor 'zzz', which is to be an output");
  EXPECT_EQ(fresh({{"i1"}, {}, {}}), "an instance needs an output");
  EXPECT_EQ(fresh({{"i1"}, {"i1"}, {}}), "the tensor 'i1' is to be an input and an output");
  EXPECT_EQ(fresh({{"i1"}, {"o1", "o1"}, {}}), "the tensor 'o1' is to be an output twice");
  EXPECT_EQ(fresh({{"i1"}, {"i0"}, {}}), "the tensor 'i0' is to be an output, but no node computes it");
  EXPECT_EQ(fresh({{"i4"}, {"i2"}, {}}), "the output 'i2' does not depend on the inputs");
  EXPECT_EQ(fresh({{}, {"i2"}, {}}), "the output 'i2' does not depend on the inputs");
  EXPECT_EQ(fresh({{"i1"}, {"o1"}, {{"a", 1e300}}}),
            "the number 1e+300 is beyond float32, which ONNX attributes have [in attribute 'a']");
  EXPECT_EQ(fresh({{"i1"}, {"o1"}, {{"a", YamlNode()}}}),
            "it is null; an attribute is a number, text, or a list of such [in attribute 'a']");
}

TEST(ReplaceByPlugin, refuses_a_cycle) {
  const auto model = toy_model();
  // i4 is computed from i2, which becomes an output of the node that computes i4.
  EXPECT_EQ(error_of(*model, {{{"i1", "i4"}, {"i2", "o1"}, {}}}),
            "the graph has a cycle: 'n4' (C) <- 'toy_0' (mine::Toy) <- 'n4' (C)");
}

Graph& graph_at(Model& model, const std::string& path) { return *GraphPaths(model).graph(path); }

TEST(ReplaceByPlugin, works_inside_subgraphs_and_functions) {
  const auto model = nested_model();
  EXPECT_EQ(replace(*model, {{{"x"}, {"y"}, {}},
                             {{"x"}, {"b_y"}, {}, "loop::body"},
                             {{"b_y"}, {"t_y"}, {}, "loop::body::if::then_branch"},
                             {{"p"}, {"f_y"}, {}, "function:F"}}),
            "");
  EXPECT_EQ(graph_text(*model->graph), "Toy(x)->y Loop(trips,cond)->all F(x)->called ");
  EXPECT_EQ(graph_text(graph_at(*model, "loop::body")), "Toy(x)->b_y If(cond)->chosen Identity(c)->go ");
  EXPECT_EQ(graph_text(graph_at(*model, "loop::body::if::then_branch")), "Toy(b_y)->t_y ");
  EXPECT_EQ(graph_text(*model->functions[0].body), "Toy(p)->f_y ");
  EXPECT_EQ(model->functions[0].body->nodes()[0]->name, "toy_3");
  EXPECT_EQ(model->opset("mine"), 1);
  EXPECT_EQ(model->functions[0].opsets.back().domain, "mine");
  EXPECT_EQ(origins_of(*graph_at(*model, "loop::body").nodes()[0]), (Names{"b_relu", "b_neg"}));
}

TEST(ReplaceByPlugin, imports_the_domain_where_the_node_is) {
  const auto model = nested_model();
  replace(*model, {{{"p"}, {"f_y"}, {}, "function:local.F"}});
  EXPECT_EQ(model->opset("mine"), 0);
  EXPECT_EQ(model->functions[0].opsets.back().domain, "mine");
}

TEST(ReplaceByPlugin, keeps_what_a_subgraph_gives_out) {
  const auto model = nested_model();
  Graph& body = graph_at(*model, "loop::body");
  graph_at(*model, "loop::body::if::else_branch").outputs = {body.find_value("b_h")};
  EXPECT_EQ(replace(*model, {{{"x"}, {"b_y"}, {}, "loop::body"}}), "");
  EXPECT_EQ(graph_text(body), "Relu(x)->b_h Toy(x)->b_y If(cond)->chosen Identity(c)->go ");
}

TEST(ReplaceByPlugin, takes_values_from_around_as_inputs) {
  const auto model = nested_model();
  log::Capture capture;
  // y already precedes the Loop; everything depends on it.
  EXPECT_EQ(replace(*model, {{{"b_h", "y"}, {"b_y"}, {}, "loop::body"}}), "");
  EXPECT_EQ(graph_text(graph_at(*model, "loop::body")),
            "Relu(x)->b_h Toy(b_h,y)->b_y If(cond)->chosen Identity(c)->go ");
  EXPECT_EQ(capture.out(), "");
  const auto second = nested_model();
  EXPECT_EQ(error_of(*second, {{{"b_h", "all"}, {"b_y"}, {}, "loop::body"}}),
            "the graph has a cycle: 'loop' (Loop) <- 'loop' (Loop)");
  const auto third = nested_model();
  EXPECT_EQ(error_of(*third, {{{"b_h", "chosen"}, {"b_y"}, {}, "loop::body"}}),
            "the graph has a cycle: 'toy_0' (mine::Toy) <- 'if' (If) <- 'toy_0' (mine::Toy)");
}

TEST(ReplaceByPlugin, sorts_the_graphs_around) {
  const auto model = nested_model();
  Graph& g = *model->graph;
  // The Loop precedes the node whose result its body will use.
  Value* late = g.add_value("late");
  g.add_node("Abs", {g.find_value("x")}, {late}, {}, "abs");
  EXPECT_EQ(replace(*model, {{{"b_h", "late"}, {"b_y"}, {}, "loop::body"}}), "");
  EXPECT_EQ(graph_text(g), "Relu(x)->h Neg(h)->y Abs(x)->late Loop(trips,cond)->all F(x)->called ");
}

TEST(ReplaceByPlugin, warns_of_values_from_around_that_get_lost) {
  const auto model = nested_model();
  Graph& body = graph_at(*model, "loop::body");
  const Graph& g = *model->graph;
  body.nodes()[1]->set_inputs({body.find_value("b_h"), g.find_value("y"), g.find_value("trips")});
  log::Capture capture;
  replace(*model, {{{"b_h"}, {"b_y"}, {}, "loop::body"}});
  EXPECT_EQ(capture.out(), "[W] The outputs of toy depend on 'y' too, which is not among its inputs.\n");
}

TEST(ReplaceByPlugin, leaves_alone_what_lies_inside_another) {
  const PluginInstance outer{{"trips", "cond"}, {"all"}, {}};
  const PluginInstance inner{{"b_y"}, {"t_y"}, {}, "loop::body::if::then_branch"};
  log::Capture capture;
  const auto first = nested_model();
  EXPECT_EQ(replace(*first, {outer, inner}),
            "it lies inside 'loop' (Loop), which 'toy_0' (mine::Toy) replaces");
  const auto second = nested_model();
  EXPECT_EQ(replace(*second, {inner, outer}), "'toy_0' (mine::Toy) stands inside it already");
}

TEST(ReplaceByPlugin, refuses_what_a_subgraph_does_not_have) {
  const auto fresh = [](const PluginInstance& i) {
    const auto model = nested_model();
    return error_of(*model, {i});
  };
  EXPECT_EQ(fresh({{"B_y"}, {"t_y"}, {}, "loop::body::if::then_branch"}),
            "the graph loop::body::if::then_branch has no tensor 'B_y', which is to be an input. Did you "
            "mean 'b_y', "
            "'t_y', 'b_h'?");
  EXPECT_EQ(fresh({{"b_h"}, {"b_y"}, {}, "lop::body"}),
            "Node: lop does not exist in the model. Did you mean 'loop'?");
  EXPECT_EQ(fresh({{"b_h"}, {"b_y"}, {}, "loop::if"}),
            "the node 'if' holds several subgraphs: name one of them, then_branch, else_branch, as in "
            "if::then_branch::...");
  EXPECT_EQ(
      fresh({{"x"}, {"y"}, {}, "loop::body"}),
      "the tensor 'y' is to be an output, but it is outside of the graph loop::body, which can only use it");
  EXPECT_EQ(fresh({{"b_h"}, {"t_y"}, {}, "loop"}),
            "the graph loop::body has no tensor 't_y', which is to be an output. Did you mean 'b_y'?");
}

}  // namespace
}  // namespace assay::replace_test
