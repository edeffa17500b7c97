#include "plugin/yaml.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"

namespace assay::yaml_test {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_yaml(text, "f.yaml");
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

YamlNode parse(const std::string& text) { return parse_yaml(text, "f.yaml").at(0); }

TEST(Yaml, types_plain_scalars_as_pyyaml_does) {
  const YamlNode n = parse(
      "[~, yes, Off, 12, -0x1f, 0b101, 017, 1_000, 1.5, 1.0e+3, .5, 1., -.inf, 1e5, 1.0e5, 09, _1, '12', "
      "!!str 3, "
      "12345678901234567890, 1.2.3, +7]");
  std::string kinds;
  for (const YamlNode& item : *n.get_if<YamlNode::List>()) kinds += std::string(item.kind()) + ",";
  EXPECT_EQ(
      kinds,
      "null,a truth value,a truth value,an integer,an integer,an integer,an integer,an integer,a number,a "
      "number,a number,a number,a number,text,text,text,text,text,text,text,text,an integer,");
  const auto& items = *n.get_if<YamlNode::List>();
  EXPECT_EQ(*items[4].get_if<int64_t>(), -31);
  EXPECT_EQ(*items[6].get_if<int64_t>(), 15);
  EXPECT_EQ(*items[7].get_if<int64_t>(), 1000);
  EXPECT_EQ(*items[9].get_if<double>(), 1000);
  EXPECT_TRUE(std::isinf(*items[12].get_if<double>()));
  EXPECT_TRUE(items[13].is_plain());
  EXPECT_FALSE(items[17].is_plain());
}

TEST(Yaml, reads_documents_aliases_and_nested_values) {
  const std::vector<YamlNode> documents = parse_yaml("a: &l [1, 2]\nb: *l\n---\n- {x: 1}\n", "f.yaml");
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].find("b")->get_if<YamlNode::List>()->size(), 2u);
  EXPECT_EQ(documents[0].find("b")->line(), 1);
  EXPECT_EQ(documents[0].find("c"), nullptr);
  EXPECT_EQ(*(*documents[1].get_if<YamlNode::List>())[0].find("x")->get_if<int64_t>(), 1);
  EXPECT_TRUE(parse_yaml("", "f.yaml").empty());
}

TEST(Yaml, says_where_it_breaks) {
  EXPECT_EQ(error_of("a: [1, 2\nb: 3\n"),
            "this is not YAML: did not find expected ',' or ']' [in f.yaml, line 2]");
  EXPECT_EQ(error_of("a: 1\na: 2\n"), "the key 'a' stands on line 1 too [in f.yaml, line 2]");
  EXPECT_EQ(error_of("a: *b\n"), "an alias stands before the value that it repeats [in f.yaml, line 1]");
  EXPECT_EQ(error_of("? [1]\n: 2\n"), "a key of a map is not text [in f.yaml, line 1]");
  EXPECT_EQ(
      error_of("a: !!python/object:os.system x"),
      "the type tag:yaml.org,2002:python/object:os.system is not one of text, numbers, lists and maps [in "
      "f.yaml, line 1]");
  EXPECT_EQ(error_of(std::string(200, '[')), "values nest deeper than 100 [in f.yaml, line 1]");
  EXPECT_NE(error_of(std::string("a: \x01\n", 5)).find("this is not YAML"), std::string::npos);
  EXPECT_NE(error_of("\xff\xfe\xff").find("this is not YAML"), std::string::npos);
}

TEST(Yaml, bounds_what_aliases_multiply) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) text += fmt::format("{}*a{}", k ? ", " : "", i - 1);
    text += "]\n";
  }
  EXPECT_EQ(error_of(text), "there are more than 1000000 values [in f.yaml, line 6]");
}

TEST(Yaml, writes_what_pyyaml_writes) {
  using Map = YamlNode::Map;
  using List = YamlNode::List;
  const YamlNode one(
      Map{{"name", YamlNode(std::string("toyPlugin"))},
          {"instances",
           YamlNode(List{YamlNode(Map{{"inputs", YamlNode(List{YamlNode(std::string("i1"))})},
                                      {"attributes", YamlNode(Map{{"ToyX", YamlNode(int64_t{2})},
                                                                  {"e", YamlNode(1e-5)},
                                                                  {"g", YamlNode(1e20)},
                                                                  {"s", YamlNode(std::string("a b: c"))},
                                                                  {"n", YamlNode(std::string("12"))},
                                                                  {"y", YamlNode(std::string("yes"))},
                                                                  {"em", YamlNode(List{})},
                                                                  {"t", YamlNode(true)},
                                                                  {"es", YamlNode(std::string())},
                                                                  {"uni", YamlNode(std::string("\xc3\xbc"))},
                                                                  {"q", YamlNode(std::string("it's"))},
                                                                  {"none", YamlNode()},
                                                                  {"m", YamlNode(std::string("-"))},
                                                                  {"tr", YamlNode(std::string(" a"))},
                                                                  {"inf", YamlNode(HUGE_VAL)}})}})})}});
  EXPECT_EQ(yaml_text({one, YamlNode(Map{{"name", YamlNode(std::string("b"))}})}),
            "name: toyPlugin\n"
            "instances:\n"
            "- inputs:\n"
            "  - i1\n"
            "  attributes:\n"
            "    ToyX: 2\n"
            "    e: 1.0e-05\n"
            "    g: 1.0e+20\n"
            "    s: 'a b: c'\n"
            "    n: '12'\n"
            "    y: 'yes'\n"
            "    em: []\n"
            "    t: true\n"
            "    es: ''\n"
            "    uni: \"\\xFC\"\n"
            "    q: it's\n"
            "    none: null\n"
            "    m: '-'\n"
            "    tr: ' a'\n"
            "    inf: .inf\n"
            "---\n"
            "name: b\n");
  EXPECT_EQ(yaml_text({}), "");
}

TEST(Yaml, text_that_aliases_repeat_counts) {
  std::string text = "a: &a '" + std::string(64000, 'x') + "'\n";
  for (char c = 'b'; c <= 'e'; ++c) {
    text += fmt::format("{0}: &{0} [", c);
    for (int i = 0; i < 9; ++i) text += fmt::format("*{},", static_cast<char>(c - 1));
    text += "]\n";
  }
  try {
    parse_yaml(text, "f.yaml");
    FAIL() << "9^4 times 64000 bytes were read";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "there are more than 1000000 values [in f.yaml, line 4]");
  }
}

TEST(Yaml, two_signs_are_text) { EXPECT_EQ(*parse_yaml("+-5", "f")[0].get_if<std::string>(), "+-5"); }

}  // namespace
}  // namespace assay::yaml_test
