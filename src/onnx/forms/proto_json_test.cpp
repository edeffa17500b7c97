#include "onnx/forms/proto_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"

namespace assay::onnx::proto_json_test {
namespace {

std::string error_of(const std::string& text) {
  try {
    (void)read_model(read_proto_json(text));
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

TEST(ProtoJson, ReadsBothSpellingsAndEveryKindOfValue) {
  const std::string bytes =
      read_proto_json(R"({"irVersion": "8", "producer_name": "h\u00e9", "docString": null,
    "opsetImport": [{"domain": "", "version": 1.7e1}],
    "graph": {"name": "g", "node": [{"input": ["x"], "output": ["y"], "opType": "Elu",
        "attribute": [{"name": "alpha", "f": 0.5, "type": "FLOAT"}, {"name": "s", "s": "YWI", "type": 3}]}],
      "initializer": [{"dims": ["3"], "dataType": 1, "floatData": [1, "-Infinity", "2.5"], "name": "w"},
                      {"dims": [2], "dataType": 3, "rawData": "_-8=", "name": "r"}]}})");
  const ModelMessage m = read_model(bytes);
  EXPECT_EQ(m.ir_version, 8);
  EXPECT_EQ(m.producer_name, "h\u00e9");
  EXPECT_EQ(m.opsets[0].version, 17);
  ASSERT_EQ(m.graph.nodes.size(), 1u);
  EXPECT_EQ(m.graph.nodes[0].op_type, "Elu");
  EXPECT_EQ(m.graph.nodes[0].attributes[0].f, 0.5f);
  EXPECT_EQ(m.graph.nodes[0].attributes[0].type, 1);
  EXPECT_EQ(m.graph.nodes[0].attributes[1].s, "ab");
  ExternalData external("", true);
  const Tensor w = decode_tensor(m.graph.initializers[0], nullptr, external).aligned();
  EXPECT_EQ(w.span<float>()[2], 2.5f);
  EXPECT_TRUE(std::isinf(w.span<float>()[1]));
  EXPECT_EQ(m.graph.initializers[1].raw_data, "\xff\xef");
}

TEST(ProtoJson, ErrorsNamePlaceAndRule) {
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(error_of(text).find(part), std::string::npos) << text << "\n" << error_of(text);
  };
  expect("[]", "expected an object, the model, but found an array [in the JSON text, line 1, column 1]");
  expect("{\"grap\": {}}", "ModelProto has no field 'grap'. Did you mean 'graph'?");
  expect("{\"graph\": []}", "expected an object for 'graph', but found an array");
  expect("{\"graph\": {\"node\": {}}}", "expected a list for 'node', but found an object");
  expect("{\"graph\": {\"name\": 5}}", "expected a string for 'name', but found a number");
  expect("{\"irVersion\": \"8.5\"}",
         "expected a whole number of at most 64 bits for 'ir_version', but found 8.5");
  expect("{\"irVersion\": 8, \"ir_version\": 8}", "'ir_version' is given twice in ModelProto");
  expect("{\"irVersion\": true}", "expected a number for 'ir_version', but found a truth value");
  expect("{\"graph\": {\"initializer\": [{\"rawData\": \"a!\"}]}}",
         "'raw_data' holds bytes, which JSON has as base64, but");
  expect("{\"graph\": {\"initializer\": [{\"dataType\": 4294967297}]}}",
         "does not fit 'data_type', which is int32");
  expect("{\"graph\": {\"initializer\": [{\"dataLocation\": \"EXTERN\"}]}}",
         "'EXTERN' is no value of 'data_location'. Did you mean 'EXTERNAL'?");
  expect("{\"graph\": {\"initializer\": [null]}}", "expected an object for 'initializer', but found null");
  std::string deep = "{\"graph\":";
  for (int i = 0; i < 300; ++i) deep += "{\"node\":[{\"attribute\":[{\"g\":";
  expect(deep, "messages nest deeper than 100");
}

}  // namespace
}  // namespace assay::onnx::proto_json_test
