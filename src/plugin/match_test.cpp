#include "plugin/match.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/log.h"
#include "plugin/config_file.h"
#include "plugin/plugin_test_util.h"

namespace assay {
namespace {

PluginMatches match(const std::string& pattern, const Model& model, PluginClaims& claims,
                    const std::string& name = "p") {
  return match_plugin(parse_plugin_pattern(pattern, "f.yaml", name), model, claims);
}
PluginMatches match(const std::string& pattern, const Model& model) {
  PluginClaims claims;
  return match(pattern, model, claims);
}

/// inputs -> outputs of every instance.
std::string text(const PluginMatches& matches) {
  std::string out;
  for (const PluginInstance& i : matches.instances) {
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

TEST(PluginConfig, is_read_back) {
  PluginMatches p{.name = "a b", .op = "Op", .domain = "mine"};
  p.instances.push_back({{"x:0", "1"}, {"yes"}, {{"n", int64_t{1}}, {"l", YamlNode::List{1.5, 2.5}}}});
  const std::string written = plugin_config_text({p, PluginMatches{.name = "none"}});
  const std::vector<PluginMatches> read = parse_plugin_config(written, "c.yaml");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].domain, "mine");
  EXPECT_EQ(text(read[0]), "x:0 1 -> yes;");
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
  EXPECT_EQ(error("name: p\nop: o\ninstances:\n- inputs: [a]\n  outputs: [b]\n  attributes: []\n"),
            "attributes is a map, not a list [in c.yaml, line 6]");
}

}  // namespace
}  // namespace assay
