#include "plugin/match.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/log.h"
#include "plugin/config_file.h"
#include "plugin/plugin_test_util.h"

namespace assay::match_test {
namespace {

PluginMatches match(const std::string& pattern, const Model& model, PluginClaims& claims,
                    const std::string& name = "p") {
  return match_plugin(parse_plugin_pattern(pattern, "f.yaml", name), model, claims);
}
PluginMatches match(const std::string& pattern, const Model& model) {
  PluginClaims claims;
  return match(pattern, model, claims);
}

/// [graph:] inputs -> outputs of every instance.
std::string text(const PluginMatches& matches) {
  std::string out;
  for (const PluginInstance& i : matches.instances) {
    if (!i.graph.empty()) out += i.graph + ": ";
    for (const std::string& t : i.inputs) out += t + " ";
    out += "->";
    for (const std::string& t : i.outputs) out += " " + t;
    out += ";";
  }
  return out;
}

/// x -> Relu -> Relu -> ... -> y, with intermediate values v0, v1, ...
std::shared_ptr<Model> relu_chain(int count) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}};
  Graph& g = *model->graph;
  Value* v = g.add_input("x", Type::tensor(DType::kFloat32));
  for (int i = 0; i < count; ++i) {
    Value* next = g.add_value("v" + std::to_string(i));
    g.add_node("Relu", {v}, {next}, {}, "r" + std::to_string(i));
    v = next;
  }
  g.outputs = {v};
  return model;
}

constexpr const char* kTwoRelus =
    "op: P\ninputs: [a]\nnodes:\n- {op: Relu, inputs: [a], outputs: [b]}\n- {op: Relu, inputs: [b], outputs: "
    "[c]}\n"
    "outputs: [c]\n";

TEST(MatchPlugin, writes_what_upstream_writes) {
  const auto model = toy_model();
  EXPECT_EQ(plugin_config_text({match(kToyPattern, *model)}),
            "name: p\nop: Toy\ninstances:\n- inputs:\n  - i1\n  outputs:\n  - o1\n  - o2\n  attributes:\n    "
            "twice: 2\n"
            "    mode: fast\n    sign: =1\n");
}

TEST(MatchPlugin, reports_one_match_once_and_leaves_overlaps_out) {
  const auto model = relu_chain(5);
  PluginClaims claims;
  EXPECT_EQ(text(match(kTwoRelus, *model, claims)), "x -> v1;v1 -> v3;");
  ASSERT_EQ(claims.overlaps().size(), 2u);
  EXPECT_EQ(claims.overlaps()[0].node, "'r1' (Relu)");
  EXPECT_EQ(claims.overlaps()[0].shared_node, "'r1' (Relu)");
  EXPECT_EQ(text(match("op: Q\ninputs: [a]\nnodes:\n- {op: Relu, inputs: [a], outputs: [b]}\noutputs: [b]\n",
                       *model, claims, "q")),
            "v3 -> v4;");
  EXPECT_EQ(claims.overlaps()[2].plugin, "q");
  EXPECT_EQ(claims.overlaps()[2].other_plugin, "p");
}

TEST(MatchPlugin, asks_its_conditions) {
  const auto model = toy_model();
  const std::string base =
      "op: P\ninputs: [a, b]\nnodes:\n- {name: C, op: C, inputs: [a, b], outputs: [c]}\noutputs: [c]\n";
  const auto matches = [&](const std::string& condition) {
    return !match(base + "where: [\"" + condition + "\"]\n", *model).instances.empty();
  };
  EXPECT_TRUE(matches("C.x == 1"));
  EXPECT_FALSE(matches("C.x == 2"));
  EXPECT_TRUE(matches("not has(C.y)"));
  EXPECT_FALSE(matches("C.y == 1"));  // cannot be evaluated
  EXPECT_TRUE(matches("shape(a) == [2, 3]"));
  EXPECT_FALSE(matches("shape(a)[0] == C.x"));
  EXPECT_FALSE(matches("C.x"));
}

TEST(MatchPlugin, looks_at_domains_constants_and_slots_that_are_left_out) {
  Model model;
  model.opsets = {{"", 13}, {"mine", 1}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32));
  Value* w = g.add_constant("w", Tensor::scalar(2.0f));
  Value *y = g.add_value("y"), *z = g.add_value("z");
  g.add_node("Op", {x, nullptr, w}, {y}, {}, "n", "mine");
  g.add_node("Op", {y, x, w}, {z});
  g.outputs = {z};
  const auto found = [&](const std::string& node, const std::string& rest = "") {
    return text(
        match("op: P\ninputs: [a]\nconstants: [k]\nnodes:\n- " + node + "\noutputs: [b]\n" + rest, model));
  };
  EXPECT_EQ(found("{op: Op, inputs: [a, null, k], outputs: [b]}"), "x w -> y;");
  EXPECT_EQ(found("{op: Op, domain: mine, inputs: [a, null, k], outputs: [b]}"), "x w -> y;");
  EXPECT_EQ(found("{op: Op, domain: ai.onnx, inputs: [a, null, k], outputs: [b]}"), "");
  EXPECT_EQ(found("{op: Op, inputs: [a, a, k], outputs: [b]}"), "");
  EXPECT_EQ(found("{op: Op, inputs: [null, a, k], outputs: [b]}"), "");
  EXPECT_EQ(found("{op: Op, inputs: [a, null, k], outputs: [b]}", "replacement: {inputs: [a]}"), "x -> y;");
  const PluginMatches m = match(
      "op: P\ninputs: [a]\nconstants: [k]\nnodes:\n- {op: Op, inputs: [a, null, k], outputs: [b]}\noutputs: "
      "[b]\n"
      "replacement: {attributes: {v: = value(k) / 4}}",
      model);
  EXPECT_EQ(*m.instances.at(0).attributes.at(0).second.get_if<double>(), 0.5);
}

TEST(MatchPlugin, names_the_attribute_that_cannot_be_computed) {
  const auto model = toy_model();
  try {
    match(
        "op: P\ninputs: [a]\nnodes:\n- {name: A, op: A, inputs: [a], outputs: [b]}\noutputs: [b]\n"
        "replacement: {attributes: {v: = A.z}}",
        *model);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "'n2' (A) has no attribute 'z', and its operator no default for it [in the expression ` A.z`] [for "
        "attribute 'v' of plugin p where it matches from node 'n2' (A)]");
  }
}

constexpr const char* kReluNeg =
    "op: P\ninputs: [a]\nnodes:\n- {name: r, op: Relu, inputs: [a], outputs: [b]}\n- {op: Neg, inputs: [b], "
    "outputs: "
    "[c]}\noutputs: [c]\n";

TEST(MatchPlugin, searches_subgraphs_and_functions) {
  const auto model = nested_model();
  EXPECT_EQ(
      text(match(kReluNeg, *model)),
      "x -> y;loop::body: x -> b_y;loop::body::if::then_branch: b_y -> t_y;function:local.F: p -> f_y;");
  // The same in the file, for those outside of the main graph.
  EXPECT_EQ(plugin_config_text({match(kReluNeg, *model)}).substr(0, 160),
            "name: p\nop: P\ninstances:\n- inputs:\n  - x\n  outputs:\n  - y\n  attributes: {}\n"
            "- graph: loop::body\n  inputs:\n  - x\n  outputs:\n  - b_y\n  attributes: {}\n- graph: loop");
}

TEST(MatchPlugin, stays_inside_one_graph) {
  const auto model = nested_model();
  // From the Neg of the body to the Relu of the branch, and from the Neg of the function's caller.
  EXPECT_EQ(text(match("op: P\ninputs: [a]\nnodes:\n- {op: Neg, inputs: [a], outputs: [b]}\n"
                       "- {op: Relu, inputs: [b], outputs: [c]}\noutputs: [c]\n",
                       *model)),
            "");
}

TEST(MatchPlugin, sees_what_subgraphs_use) {
  const auto model = nested_model();
  Graph& body = *model->graph->nodes()[2]->find_attribute("body")->get_if<std::shared_ptr<Graph>>()->get();
  Graph& other = *body.nodes()[2]->find_attribute("else_branch")->get_if<std::shared_ptr<Graph>>()->get();
  const std::string all = text(match(kReluNeg, *model));
  ASSERT_NE(all.find("loop::body: x -> b_y"), std::string::npos);
  // A branch returns the body's inner value, without a node that consumes it.
  other.outputs = {body.find_value("b_h")};
  EXPECT_EQ(text(match(kReluNeg, *model)).find("loop::body: x -> b_y"), std::string::npos);
  // As an output of the pattern it may be.
  EXPECT_NE(
      text(
          match(
              "op: P\ninputs: [a]\nnodes:\n- {op: Relu, inputs: [a], outputs: [b]}\n- {op: Neg, inputs: [b], "
              "outputs: [c]}\noutputs: [b, c]\n",
              *model))
          .find("loop::body: x -> b_h b_y"),
      std::string::npos);
  other.outputs = {body.find_value("b_y")};
  // Now a node of a subgraph uses the main graph's inner value.
  body.nodes()[0]->set_inputs({model->graph->find_value("h")});
  EXPECT_EQ(text(match(kReluNeg, *model)),
            "loop::body: h -> b_y;loop::body::if::then_branch: b_y -> t_y;function:local.F: p -> f_y;");
}

TEST(MatchPlugin, takes_constants_from_outside) {
  const auto model = nested_model();
  Graph& g = *model->graph;
  Value* w = g.add_constant("w", Tensor::scalar(2.0f));
  Graph& body = *g.nodes()[2]->find_attribute("body")->get_if<std::shared_ptr<Graph>>()->get();
  Value* product = body.add_value("product");
  body.add_node("Mul", {body.find_value("b_y"), w}, {product}, {}, "mul");
  body.outputs.push_back(product);
  const PluginMatches m = match(
      "op: P\ninputs: [a]\nconstants: [k]\nnodes:\n- {op: Mul, inputs: [a, k], outputs: [b]}\noutputs: [b]\n"
      "replacement: {attributes: {v: = value(k)}}",
      *model);
  EXPECT_EQ(text(m), "loop::body: b_y w -> product;");
  EXPECT_EQ(*m.instances.at(0).attributes.at(0).second.get_if<double>(), 2);
}

TEST(MatchPlugin, leaves_out_what_lies_inside_a_match) {
  const auto model = nested_model();
  const char* loops =
      "op: P\ninputs: [m, c]\nnodes:\n- {op: Loop, inputs: [m, c], outputs: [b]}\noutputs: [b]\n";
  PluginClaims claims;
  EXPECT_EQ(text(match(loops, *model, claims, "loops")), "trips cond -> all;");
  EXPECT_EQ(text(match(kReluNeg, *model, claims)), "x -> y;function:local.F: p -> f_y;");
  ASSERT_EQ(claims.overlaps().size(), 2u);
  EXPECT_EQ(claims.overlaps()[1].node, "'t_relu' (Relu) in loop::body::if::then_branch");
  EXPECT_EQ(claims.overlaps()[1].shared_node, "'loop' (Loop)");
  EXPECT_EQ(claims.overlaps()[1].other_plugin, "loops");
  PluginClaims others;
  match(kReluNeg, *model, others);
  EXPECT_EQ(text(match(loops, *model, others, "loops")), "");
  EXPECT_EQ(others.overlaps().at(0).shared_node, "'loop' (Loop)");
}

TEST(MatchPlugin, asks_for_the_opset_of_the_function) {
  const auto model = nested_model();
  Function& f = model->functions[0];
  Graph& g = *f.body;
  Value* s = g.add_value("s");
  g.add_node("Softmax", {g.find_value("f_y")}, {s}, {}, "softmax");
  g.outputs = {s};
  const std::string pattern =
      "op: P\ninputs: [a]\nnodes:\n- {name: n, op: Softmax, inputs: [a], outputs: [b]}\noutputs: [b]\n"
      "where: [n.axis == ";
  EXPECT_EQ(text(match(pattern + "-1]\n", *model)), "function:local.F: f_y -> s;");
  f.opsets = {{"", 11}};  // the default was another
  EXPECT_EQ(text(match(pattern + "-1]\n", *model)), "");
  EXPECT_EQ(text(match(pattern + "1]\n", *model)), "function:local.F: f_y -> s;");
  g.nodes().back()->attributes = {Attribute{.name = "axis", .data = {}, .ref_attr_name = "of_the_call"}};
  EXPECT_EQ(text(match(pattern + "1]\n", *model)), "");
}

TEST(MatchPlugin, leaves_out_what_no_path_names) {
  const auto model = nested_model();
  Graph& g = *model->graph;
  const std::vector<Value*> none;
  // Two loops of one name: the second is named by its output. Then the first's output names a node, too.
  g.nodes()[3]->name = "loop";
  const auto body = std::make_shared<Graph>();
  Value* v = body->add_input("v", {});
  body->outputs = {body->add_value("w")};
  body->add_node("Relu", {v}, {body->outputs[0]});
  Value* second = g.add_value("second");
  g.add_node("Scan", {g.find_value("x")}, {second}, {{"body", body}}, "loop");
  const char* relu = "op: P\ninputs: [a]\nnodes:\n- {op: Relu, inputs: [a], outputs: [b]}\noutputs: [b]\n";
  PluginClaims claims;
  EXPECT_NE(text(match(relu, *model, claims)).find("second::body: v -> w;"), std::string::npos);
  g.nodes()[3]->name = "second";
  PluginClaims others;
  EXPECT_EQ(text(match(relu, *model, others)).find("v -> w;"), std::string::npos);
  ASSERT_EQ(others.unnamed().size(), 1u);
  EXPECT_EQ(others.unnamed()[0].node, "(Relu) producing 'w'");
}

TEST(PluginConfig, is_read_back) {
  PluginMatches p{.name = "a b", .op = "Op", .domain = "mine"};
  p.instances.push_back({{"x:0", "1"}, {"yes"}, {{"n", int64_t{1}}, {"l", YamlNode::List{1.5, 2.5}}}});
  p.instances.push_back({{"a"}, {"b"}, {}, "if::then_branch"});
  const std::string written = plugin_config_text({p, PluginMatches{.name = "none"}});
  const std::vector<PluginMatches> read = parse_plugin_config(written, "c.yaml");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].domain, "mine");
  EXPECT_EQ(text(read[0]), "x:0 1 -> yes;if::then_branch: a -> b;");
  EXPECT_EQ(plugin_config_text(read), written);
}

TEST(PluginConfig, says_what_is_wrong) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse_plugin_config(text, "c.yaml");
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("a"), "a plugin is a map, not text [in c.yaml, line 1]");
  EXPECT_EQ(error("name: p\n"), "a plugin lacks the field 'op' [in c.yaml, line 1]");
  EXPECT_EQ(error("name: p\nop: o\ninstances:\n- 1\n"),
            "an instance is a map, not an integer [in c.yaml, line 4]");
  EXPECT_EQ(error("name: p\nop: o\ninstances:\n- inputs: [1]\n  outputs: []\n"),
            "one of the inputs is an integer, not text; put it in quotes if it is meant as text [in c.yaml, "
            "line 4]");
  EXPECT_EQ(error("name: p\nop: o\ninstances:\n- inputs: [a]\n  outputs: [b]\n  graph: [c]\n"),
            "graph is a list, not text; put it in quotes if it is meant as text [in c.yaml, line 6]");
  EXPECT_EQ(error("name: p\nop: o\ninstances:\n- inputs: [a]\n  outputs: [b]\n  attributes: []\n"),
            "attributes is a map, not a list [in c.yaml, line 6]");
}

}  // namespace
}  // namespace assay::match_test
