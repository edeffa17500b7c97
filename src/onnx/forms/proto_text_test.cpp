#include "onnx/forms/proto_text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"

namespace assay::onnx::proto_text_test {
namespace {

std::string error_of(const std::string& text) {
  try {
    (void)read_model(read_proto_text(text));
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

constexpr const char* kModel = R"(# a comment
ir_version: 8
producer_name: "by" " hand"; opset_import { domain: "" version: 0x11 }
graph {
  node < input: "x", input: 'w' output: "y" op_type: "Mul"
    attribute { name: "f" type: FLOAT f: -1.5e1 }
    attribute { name: "l" type: 7 ints: [1, -2, 0x7f, 010] ints: 9 } >
  name: "g\t\101\x42\u00e9\U0001F600\ud83d\ude00"
  initializer { dims: 2 data_type: 1 name: "w" float_data: [1.5f, -inf] }
  initializer: { dims: 1 data_type: 7 name: "i" raw_data: "\001\000\000\000\000\000\000\377" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } dim { dim_value: 2 } } } } }
  output [{ name: "y" }, { name: "z" }]
}
)";

TEST(ProtoText, ReadsEverythingThatTheFormatHas) {
  const std::string bytes = read_proto_text(kModel);
  const ModelMessage m = read_model(bytes);
  EXPECT_EQ(m.ir_version, 8);
  EXPECT_EQ(m.producer_name, "by hand");
  ASSERT_EQ(m.opsets.size(), 1u);
  EXPECT_EQ(m.opsets[0].version, 17);
  const GraphMessage& g = m.graph;
  EXPECT_EQ(g.name, "g\tAB\u00e9\U0001F600\U0001F600");
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].inputs, (std::vector<std::string_view>{"x", "w"}));
  EXPECT_EQ(g.nodes[0].attributes[0].f, -15.0f);
  EXPECT_EQ(g.nodes[0].attributes[1].ints, (std::vector<int64_t>{1, -2, 127, 8, 9}));
  ASSERT_EQ(g.initializers.size(), 2u);
  ExternalData external("", true);
  const Tensor w = decode_tensor(g.initializers[0], nullptr, external).aligned();
  EXPECT_EQ(w.span<float>()[0], 1.5f);
  EXPECT_TRUE(std::isinf(w.span<float>()[1]) && w.span<float>()[1] < 0);
  EXPECT_EQ(g.initializers[1].raw_data, std::string_view("\1\0\0\0\0\0\0\xff", 8));
  EXPECT_EQ(g.inputs[0].type.dims[0].param, "N");
  EXPECT_EQ(g.outputs.size(), 2u);
}

TEST(ProtoText, ErrorsNamePlaceAndRule) {
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(error_of(text).find(part), std::string::npos) << text << "\n" << error_of(text);
  };
  expect("ir_version: 8\ngrap { }",
         "ModelProto has no field 'grap'. Did you mean 'graph'? [at line 2, column 1: grap { }]");
  expect("ir_version 8", "expected ':' after 'ir_version', but found '8'");
  expect("ir_version: 8 ir_version: 9", "'ir_version' is given twice in ModelProto");
  expect("ir_version: 9223372036854775808", "does not fit 'ir_version', which is int64");
  expect("ir_version: 99999999999999999999999", "has more than 64 bits");
  expect("ir_version: 1.5", "expected a whole number for 'ir_version', but found '1'");
  expect("graph { node { attribute { type: FLOTS } } }",
         "'FLOTS' is no value of 'type'. Did you mean 'FLOATS'");
  expect("graph { node { attribute { f: x } } }", "expected a number for 'f', but found 'x'");
  expect("graph { name: \"a\n\" }", "this string does not end in its line");
  expect("graph { name: \"\\q\" }", "'\\q' is no escape");
  expect("graph { name: \"\\377\" }", "these bytes are not UTF-8");
  expect("graph { name: \"\\400\" }", "an octal escape stands for more than a byte");
  expect("graph { name: \"\\ud800\" }", "this escape stands for no character");
  expect("graph { name: 5 }", "expected a string in quotes for 'name', but found '5'");
  expect("graph { name: [\"a\"] }", "'name' takes one value, not a list");
  expect("graph { input { type { tensor_type { elem_type: 1 } optional_type { } } } }",
         "TypeProto has either 'tensor_type' or 'optional_type', not both");
  expect("graph { node { input: \"x\"", "expected a field of NodeProto, or '}', but the text ends");
  expect("[a.b] { }", "extensions and Any");
  expect("graph { } }", "expected the name of a field of ModelProto, but found '}'");
  expect("graph: 5", "expected '{' before the message 'graph', but found '5'");
}

TEST(ProtoText, EveryPrefixEndsInASentence) {
  const std::string text = kModel;
  const size_t last = text.rfind('}');
  for (size_t n = text.find("graph {") + 7; n <= last; ++n) EXPECT_NE(error_of(text.substr(0, n)), "") << n;
}

TEST(ProtoText, NestsNoDeeperThanProtobuf) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "graph { node { attribute { g { node { attribute { ";
  EXPECT_NE(error_of("ir_version: 8 " + text).find("has no field"), std::string::npos);
  std::string deep = "graph {";
  for (int i = 0; i < 1000; ++i) deep += "node { attribute { g {";
  EXPECT_NE(error_of(deep).find("messages nest deeper than 100"), std::string::npos);
}

}  // namespace
}  // namespace assay::onnx::proto_text_test
