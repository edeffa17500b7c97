#include "onnx/text/reader.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "onnx/messages.h"

namespace assay::onnx::reader_test {
namespace {

/// A model around one node list.
std::string model(std::string_view nodes, std::string_view values = "") {
  return "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2] x) => (float[2] y)\n" +
         std::string(values) + "\n{\n" + std::string(nodes) + "\n}\n";
}

/// The error of a text; empty when it is read.
std::string error_of(const std::string& text) {
  try {
    (void)read_text(text);
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(TextReader, ReadsTheHeader) {
  const std::string bytes = read_text(
      "<ir_version: 7, opset_import: [\"\" : 10, \"ai.onnx.ml\" : 2], producer_name: \"p\", "
      "producer_version: "
      "\"v\", domain: \"d\", model_version: 5, doc_string: \"a \\\"b\\\"\", metadata_props: [\"k\": \"v\"]> "
      "g () "
      "=> () {}");
  const ModelMessage m = read_model(bytes);
  EXPECT_EQ(m.ir_version, 7);
  ASSERT_EQ(m.opsets.size(), 2U);
  EXPECT_EQ(m.opsets[1].domain, "ai.onnx.ml");
  EXPECT_EQ(m.opsets[1].version, 2);
  EXPECT_EQ(m.producer_name, "p");
  EXPECT_EQ(m.producer_version, "v");
  EXPECT_EQ(m.domain, "d");
  EXPECT_EQ(m.model_version, 5);
  EXPECT_EQ(m.doc_string, "a \"b\"");
  EXPECT_EQ(m.metadata, (StringPairs{{"k", "v"}}));
}

TEST(TextReader, ReadsNodes) {
  const std::string bytes = read_text(
      model("[n] a, \"b c\", = com.x.Op:over <i = 1, f = 1.0, s = \"t\", l: floats = [1, 2]> (x,,\"b c\")\n"
            "= Op () <r = @p, u: type_proto = seq(float[N, ?])>  # a comment"));
  const ModelMessage m = read_model(bytes);
  ASSERT_EQ(m.graph.nodes.size(), 2U);
  const NodeMessage& n = m.graph.nodes[0];
  EXPECT_EQ(n.name, "n");
  EXPECT_EQ(n.outputs, (std::vector<std::string_view>{"a", "b c"}));
  EXPECT_EQ(n.inputs, (std::vector<std::string_view>{"x", "", "b c"}));
  EXPECT_EQ(n.domain, "com.x");
  EXPECT_EQ(n.op_type, "Op");
  EXPECT_EQ(n.overload, "over");
  ASSERT_EQ(n.attributes.size(), 4U);
  EXPECT_EQ(n.attributes[0].i, 1);
  EXPECT_EQ(n.attributes[1].f, 1.0F);
  EXPECT_EQ(n.attributes[2].s, "t");
  EXPECT_EQ(n.attributes[3].floats, (std::vector<float>{1, 2}));
  EXPECT_EQ(m.graph.nodes[1].attributes[0].ref_attr_name, "p");
  EXPECT_EQ(m.graph.nodes[1].attributes[1].types[0].element[0].dims.size(), 2U);
}

TEST(TextReader, ReadsFunctions) {
  const std::string bytes =
      read_text(model("y = my.f (x)") +
                "<domain: \"my\", overload: \"o\", doc_string: \"d\", opset_import: [\"\" : 21]>\n"
                "f <a, b: int = 2> (float[N] x, z) => (y) <int64 t> { y = Relu (x) }");
  const ModelMessage m = read_model(bytes);
  ASSERT_EQ(m.functions.size(), 1U);
  const FunctionMessage& f = m.functions[0];
  EXPECT_EQ(f.domain, "my");
  EXPECT_EQ(f.overload, "o");
  EXPECT_EQ(f.doc_string, "d");
  EXPECT_EQ(f.attribute_names, (std::vector<std::string_view>{"a"}));
  EXPECT_EQ(f.attribute_defaults.at(0).i, 2);
  EXPECT_EQ(f.inputs, (std::vector<std::string_view>{"x", "z"}));
  EXPECT_EQ(f.value_infos.size(), 2U);
  EXPECT_EQ(f.nodes.size(), 1U);
}

TEST(TextReader, ReadsInitializersAndDefaults) {
  const std::string bytes = read_text(
      "g (float x, float[2] w = {1, 2}) => (float[2] y) <int8[2] b = [\"location\": \"b.bin\"], float[2] t, "
      "sparse_tensor(float[4]) s = {float[1] {1}, int64[1] {3}}> { y = Op (x) }");
  const GraphMessage g = read_model(bytes).graph;
  EXPECT_EQ(g.inputs.size(), 2U);
  ASSERT_EQ(g.initializers.size(), 2U);
  EXPECT_EQ(g.initializers[0].name, "w");
  EXPECT_EQ(g.initializers[1].data_location, 1);
  EXPECT_EQ(g.initializers[1].external_data, (StringPairs{{"location", "b.bin"}}));
  EXPECT_EQ(g.value_infos.at(0).name, "t");
  EXPECT_EQ(g.sparse_initializers.at(0).values.name, "s");
}

TEST(TextReader, ReadsAnnotations) {
  const std::string bytes = read_text(
      "#: doc_string \"two\\nlines\"\n#: quantization \"t\" \"SCALE_TENSOR\" \"s\"\ng (\n#: denotation "
      "\"IMAGE\"\n"
      "float x) => (float x) {\n  #: metadata \"k\" \"v\"\n  y = Op (x) }");
  const GraphMessage g = read_model(bytes).graph;
  EXPECT_EQ(g.doc_string, "two\nlines");
  EXPECT_EQ(g.quantization_annotations.at(0).tensor_name, "t");
  EXPECT_EQ(g.inputs.at(0).type.denotation, "IMAGE");
  EXPECT_EQ(g.nodes.at(0).metadata, (StringPairs{{"k", "v"}}));
}

TEST(TextReader, NamesPlaceAndExpectation) {
  EXPECT_EQ(
      error_of(model("y = Add (x x)")),
      "expected ')' or ',' after the inputs of a node, but found 'x' [at line 5, column 12: y = Add (x x)]");
  EXPECT_EQ(
      error_of(model("\"\xC3\xA9\" = Add x")),
      "expected '(' before the inputs of a node, but found 'x' [at line 5, column 11: \"\xC3\xA9\" = Add x]");
  EXPECT_EQ(error_of("g (float x) = (float y) {}"),
            "expected '>' (of '=>') after the inputs of a graph, but found '(' [at line 1, column 15: g "
            "(float x) = "
            "(float y) {}]");
  const std::string long_line =
      error_of("g (" + std::string(1000, ' ') + "! " + std::string(1000, ' ') + ")");
  EXPECT_LT(long_line.size(), 300U);
  EXPECT_NE(long_line.find("column 1004: ..."), std::string::npos) << long_line;
}

TEST(TextReader, RefusesWhatIsNoModel) {
  const std::pair<std::string, std::string> kCases[] = {
      {"", "expected the name of a graph, but found the end of the text"},
      {"g () => () {", "expected a node or '}', but found the end of the text"},
      {"g () => () {} }", "expected the name of a function, or the end of the text, but found '}'"},
      {"<ir_version 7> g () => () {}", "expected ':' after a key, but found '7'"},
      {"<ir_version: 7, ir_version: 7> g () => () {}", "'ir_version' is given twice"},
      {"<colour: 7> g () => () {}", "the key 'colour' is unknown here"},
      {"<ir_version: 99999999999999999999> g () => () {}", "99999999999999999999 does not fit in 64 bits"},
      {"<domain: \"x> g () => () {}", "this string does not end: expected '\"'"},
      {"g (flot[2] x) => () {}", "expected ')' or ',' after the inputs of a graph, but found '['"},
      {"g (float[2 x) => () {}", "expected ']' or ',' after an extent, but found 'x'"},
      {"g (float[-] x) => () {}", "expected a number after '-'"},
      {"g (float[2x] x) => () {}",
       "this is not a number, and a name that begins with a digit must stand in quotes"},
      {"g (seq(3) x) => () {}", "expected a type, but found '3'"},
      {"g (map(seq, float) x) => () {}", "expected the type of a map's keys, but found 'seq'"},
      {"g () => () <x = {1}> {}", "an initializer needs a tensor type before its name"},
      {"g () => () <float[N] x = {1}> {}",
       "the type of a constant needs an element type and numbers as extents"},
      {"g () => () <seq(float) x = {1}> {}", "a constant needs a tensor type"},
      {"#: doc_string \"a\"\n<> g () => () {}",
       "the annotation 'doc_string' stands before nothing that has one"},
      {"#: colour \"a\"\ng () => () {}", "the annotation 'colour' is unknown"},
      {"#: doc_string\ng () => () {}", "the annotation 'doc_string' takes 1 string(s), but 0 follow"},
      {"#: doc_string \"a\ng () => () {}", "the string in this annotation does not end on its line"},
      {"#: data \"aaaa\"\ng () => () {}", "a graph has no annotation 'data'"},
  };
  for (const auto& [text, message] : kCases)
    EXPECT_EQ(error_of(text).substr(0, message.size()), message) << text << "\n" << error_of(text);
}

TEST(TextReader, RefusesWrongAttributes) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a: int = 1.5", "expected an integer, but found '1.5'"},
      {"a: colour = 1",
       "expected the type of an attribute, such as int, floats or graph, but found 'colour'"},
      {"a: int = [1]", "a list is not a value of type int"},
      {"a: ints = 1", "expected '[' before a value of type ints, but found '1'"},
      {"a = []", "an empty list needs a type before it, as in `axes: ints = []`"},
      {"a = [1, 2.5]", "expected an integer, but found '2.5'"},
      {"a = [1, \"b\"]", "expected an integer, but found \"b\""},
      {"a: float = 1e99", "1e99 is too large for float"},
      {"a: float = 1e", "this number has an exponent without digits"},
      {"a: tensor = float", "expected '{' before the elements of a tensor, but found '>'"},
      {"a: tensor = seq(float) {1}", "a constant needs a tensor type"},
      {"a = @", "expected the name of an attribute of the function after '@', but found '>'"},
      {"a = ?", "expected the value of an attribute, but found '?'"},
      {"a = g", "expected '(' before the inputs of a graph, but found '>'"},
  };
  for (const auto& [attribute, message] : kCases) {
    const std::string error = error_of(model("y = Op <" + attribute + "> (x)"));
    EXPECT_EQ(error.substr(0, message.size()), message) << attribute << "\n" << error;
  }
}

TEST(TextReader, RefusesWrongElements) {
  const std::pair<std::string, std::string> kCases[] = {
      {"float[2] w = {1}", "float[2] needs 2 element(s), but has 1"},
      {"float[2] w = {1, 2, 3}", "float[2] needs 2 element(s), but more are given"},
      {"float[2] w = {1, \"a\"}", "expected a number in float[2], but found \"a\""},
      {"int8[1] w = {128}", "128 is not an element of int8[1], which lie between -128 and 127"},
      {"uint64[1] w = {-1}",
       "-1 is not an element of uint64[1], which lie between 0 and 18446744073709551615"},
      {"bool[1] w = {2}", "2 is not an element of bool[1], which lie between 0 and 1"},
      {"int32[1] w = {1.0}", "expected an integer in int32[1], but found '1.0'"},
      {"int4[3] w = {1, 2, 3}", "int4[3] needs 2 bytes (its elements are packed), but more are given"},
      {"float6e2m3[3] w = {1, 2}", "float6e2m3[3] needs 3 element(s), but has 2"},
      {"float6e3m2[1] w = {64}", "64 is not an element of float6e3m2[1], which lie between 0 and 63"},
      {"complex64[1] w = {1}", "complex64[1] needs 2 numbers (real and imaginary parts), but has 1"},
      {"string[1] w = {a}", "expected a string in string[1], but found 'a'"},
      {"float[4] w = {1, ...}",
       "expected a number in float[4], but found '...': this text leaves elements out"},
      {"float[4611686018427387904, 4] w = {1}",
       "the shape (4611686018427387904, 4) has more elements than 64 bits can count"},
      {"float[-1] w = {}", "the shape (-1,) has a negative extent"},
      {"float[2] w = [\"location\"]", "expected ':' after a key, but found ']'"},
  };
  for (const auto& [initializer, message] : kCases) {
    const std::string error = error_of(model("y = Op (x)", "<" + initializer + ">"));
    EXPECT_NE(error.find(message), std::string::npos) << initializer << "\n" << error;
  }
}

TEST(TextReader, BoundsNesting) {
  std::string types, graphs;
  for (int i = 0; i < 100000; ++i) types += "seq(";
  EXPECT_NE(error_of("g (" + types + ") => () {}").find("types nest deeper than 32"), std::string::npos);
  for (int i = 0; i < 100000; ++i) graphs += "g () => () { y = If (c) <b: graph = ";
  EXPECT_NE(error_of(graphs).find("subgraphs nest deeper than 32"), std::string::npos);
}

TEST(TextReader, EveryTruncationIsAnError) {
  const std::string text = model(
      "[n] y = a.B <g: graph = b () => (float z) { z = C () }, t = float[2] {1, -inf}, s = [\"x\"], p: ints "
      "= []> (x)",
      "<float[2] w = {1, 2}, int64 v>");
  ASSERT_EQ(error_of(text), "");
  const size_t last = text.rfind('}');
  for (size_t n = 0; n <= last; ++n) EXPECT_NE(error_of(text.substr(0, n)), "") << text.substr(0, n);
}

}  // namespace
}  // namespace assay::onnx::reader_test
