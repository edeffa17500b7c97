#include "plugin/pattern_file.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "plugin/plugin_test_util.h"

namespace assay::pattern_file_test {
namespace {

TEST(PatternFile, reads_what_it_says) {
  const PluginPattern p = parse_plugin_pattern(kToyPattern, "f.yaml", "toy");
  EXPECT_EQ(p.name, "toy");
  EXPECT_EQ(p.op, "Toy");
  EXPECT_EQ(p.domain, "");
  EXPECT_EQ(p.nodes.size(), 5u);
  EXPECT_EQ(p.conditions.size(), 2u);
  EXPECT_EQ(p.replacement_inputs, std::vector<std::string>{"a"});
  ASSERT_EQ(p.attributes.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<Expression>(p.attributes[0].second));
  EXPECT_EQ(*std::get<YamlNode>(p.attributes[2].second).get_if<std::string>(), "=1");
}

/// The message for a pattern of one node, with fields replaced or added.
std::string error_of(const std::string& fields) {
  try {
    parse_plugin_pattern(fields, "f.yaml", "p");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string pattern(const std::string& inputs, const std::string& nodes,
                    const std::string& rest = "outputs: [b]") {
  return "op: P\ninputs: " + inputs + "\nnodes:\n" + nodes + "\n" + rest + "\n";
}

TEST(PatternFile, says_what_is_wrong_and_where) {
  const std::string relu = "- {name: r, op: Relu, inputs: [a], outputs: [b]}";
  const std::pair<std::string, const char*> cases[] = {
      {"", "f.yaml holds 0 YAML documents; a plugin's pattern is one"},
      {"[1]", "a plugin's pattern is a map, not a list [in f.yaml, line 1]"},
      {"op: P\n", "a plugin's pattern lacks the field 'inputs' [in f.yaml, line 1]"},
      {"op: 3\n", "op is an integer, not text; put it in quotes if it is meant as text [in f.yaml, line 1]"},
      {"op: P\ninput: [a]\n",
       "a plugin's pattern has no field 'input'; it may have name, op, domain, inputs, constants, nodes, "
       "outputs, where, "
       "replacement [in f.yaml, line 2]"},
      {pattern("[]", relu), "a pattern needs an input to begin at [in f.yaml, line 2]"},
      {pattern("[a, a]", relu), "the tensor 'a' is defined twice [in f.yaml, line 2]"},
      {pattern("[a-b]", relu),
       "'a-b' is not a name for a tensor: letters, digits and _ make one [in f.yaml, line 2]"},
      {pattern("[a]", " []"), "a pattern needs a node [in f.yaml, line 4]"},
      {pattern("[a]", "- {op: Relu, inputs: [z], outputs: [b]}"),
       "the tensor 'z' is not defined: nodes come after those whose outputs they use [in f.yaml, line 4]"},
      {pattern("[a]", "- {op: Relu, inputs: [a], outputs: [a]}"),
       "the tensor 'a' is defined twice [in f.yaml, line 4]"},
      {pattern("[a]", "- {op: Relu, inputs: [a], outputs: []}"),
       "a node needs an output [in f.yaml, line 4]"},
      {pattern("[a]", "- {op: Relu, inputs: [a], outputs: [b], axis: 1}"),
       "a node has no field 'axis'; it may have name, op, domain, inputs, outputs [in f.yaml, line 4]"},
      {pattern("[a]", relu + "\n- {name: r, op: Neg, inputs: [b], outputs: [c]}"),
       "there are two nodes of the name 'r' [in f.yaml, line 5]"},
      {pattern("[a]", relu, "outputs: [z]"),
       "the tensor 'z' is not defined: it is not an input, a constant or an output of a node before [in "
       "f.yaml, line 5]"},
      {pattern("[a]", relu, "outputs: [b, b]"), "the output 'b' is named twice [in f.yaml, line 5]"},
      {pattern("[a]", relu, "outputs: []"), "a pattern needs an output [in f.yaml, line 5]"},
      {pattern("[a, c]", relu), "no node connects the tensor 'c' with the input 'a' [in f.yaml, line 4]"},
      {pattern("[a]", relu, "outputs: [b]\nwhere: r.x < 1"), "where is text, not a list [in f.yaml, line 6]"},
      {pattern("[a]", relu, "outputs: [b]\nwhere: [z.x < 1]"),
       "there is no node 'z' in the expression `z.x < 1` [in f.yaml, line 6]"},
      {pattern("[a]", relu, "outputs: [b]\nwhere: [rank(z) < 1]"),
       "there is no tensor 'z' in the expression `rank(z) < 1` [in f.yaml, line 6]"},
      {pattern("[a]", relu, "outputs: [b]\nwhere: [1 +]"),
       "a value is expected at character 4 [in the expression `1 +`] [in f.yaml, line 6]"},
      {pattern("[a]", relu, "outputs: [b]\nreplacement: {inputs: [b]}"),
       "the new node cannot get 'b', which is computed inside the match [in f.yaml, line 6]"},
      {pattern("[a]", relu, "outputs: [b]\nreplacement: {attributes: {e: 1e-5}}"),
       "1e-5 is text by the rules of YAML 1.1; write it with a point and a signed exponent (1.0e-5), or in "
       "quotes [in "
       "f.yaml, line 6]"},
      {pattern("[a]", relu, "outputs: [b]\nreplacement: {attributes: {e: {f: 1}}}"),
       "the attribute 'e' is a map, not a number, text or a list of such [in f.yaml, line 6]"},
      {pattern("[a]", relu, "outputs: [b]\nreplacement: {attributes: {e: [[1]]}}"),
       "the attribute 'e' is a list of lists [in f.yaml, line 6]"},
      {pattern("[a]", relu), "no error"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(error_of(text), expected) << text;
}

TEST(PatternFile, many_nodes_take_time_in_proportion) {
  // They are connected from the last to the first.
  constexpr int kNodes = 20000;
  std::string nodes = "  - {op: A, inputs: [k], outputs: [t0]}\n";
  for (int i = 1; i < kNodes; ++i)
    nodes += fmt::format("  - {{op: A, inputs: [t{}{}], outputs: [t{}]}}\n", i - 1,
                         i + 1 == kNodes ? ", a" : "", i);
  const std::string text =
      fmt::format("op: P\ninputs: [a]\nconstants: [k]\nnodes:\n{}outputs: [t{}]\n", nodes, kNodes - 1);
  EXPECT_EQ(parse_plugin_pattern(text, "f.yaml", "p").nodes.size(), size_t{kNodes});
}

TEST(PatternFile, inputs_that_are_left_out_connect_nothing) {
  EXPECT_EQ(
      error_of(pattern(
          "[a]", "- {op: A, inputs: [a, null], outputs: [b]}\n- {op: A, inputs: [null], outputs: [c]}")),
      "no node connects the tensor 'c' with the input 'a' [in f.yaml, line 4]");
}

}  // namespace
}  // namespace assay::pattern_file_test
