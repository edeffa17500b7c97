#include "onnx/forms/proto_json.h"

#include "fuzz/targets/target.h"
#include "graph/import.h"

namespace assay::fuzz::target_proto_json {
namespace {

constexpr const char* kSmall =
    R"({"irVersion": "8", "opsetImport": [{"domain": "", "version": "17"}], "graph": {"name": "g",
  "node": [{"input": ["x"], "output": ["y"], "opType": "Neg"}],
  "input": [{"name": "x", "type": {"tensorType": {"elemType": 1, "shape": {"dim": [{"dimValue": "2"}, {"dimParam": "n"}]}}}}],
  "output": [{"name": "y"}]}})";
constexpr const char* kNested =
    R"({"graph": {"node": [{"input": ["c"], "output": ["y"], "opType": "If", "attribute": [
  {"name": "then_branch", "type": "GRAPH", "g": {"node": [{"output": ["a"], "opType": "Constant", "attribute": [
    {"name": "value_ints", "ints": ["1", -2, 1e3], "type": "INTS"}]}], "output": [{"name": "a"}]}},
  {"name": "else_branch", "type": 5, "g": {"node": [{"output": ["b"], "opType": "Constant", "attribute": [
    {"name": "value_floats", "floats": [1.5, "-Infinity", "NaN"], "type": "FLOATS"}]}], "output": [{"name": "b"}]}}]}],
  "initializer": [{"dataType": 9, "name": "c", "rawData": "AQ=="}], "output": [{"name": "y"}]}, "opset_import": [{"version": 17}]})";
constexpr const char* kData =
    R"({"graph": {"initializer": [{"dims": ["2"], "dataType": 1, "floatData": [1, 2], "name": "f"},
  {"dims": [2], "dataType": 8, "stringData": ["YQ==", "_-8"], "name": "s"}, {"dims": [1], "dataType": 11, "doubleData": [1e400], "name": "d"},
  {"dims": [3], "dataType": 1, "name": "e", "dataLocation": "EXTERNAL", "externalData": [{"key": "location", "value": "x"}]}],
  "docString": null}})";
constexpr std::string_view kWords[] = {"\"graph\":",
                                       "\"node\":",
                                       "\"attribute\":",
                                       "\"g\":",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       "null",
                                       "true",
                                       "\\u0041",
                                       "\"-Infinity\"",
                                       "1e999",
                                       "18446744073709551615",
                                       "\"AQ==\"",
                                       "\"dims\":"};

void run(std::string_view input) {
  const auto message = std::make_shared<const std::string>(onnx::read_proto_json(input));
  parse_model(*message, message, "input", {.external_data_dir = "/proc/self/fdinfo"});
}

std::vector<std::string> seeds() { return {kSmall, kNested, kData}; }

}  // namespace

constinit const Target def = {.name = "proto_json", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_proto_json
