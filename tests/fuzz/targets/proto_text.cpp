#include "onnx/forms/proto_text.h"

#include "fuzz/targets/target.h"
#include "graph/import.h"

namespace assay::fuzz::target_proto_text {
namespace {

constexpr const char* kSmall = R"(ir_version: 8
opset_import { domain: "" version: 17 }
graph { name: "g" node { input: "x" output: "y" op_type: "Neg" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_param: "n" } } } } }
  output { name: "y" } }
)";
constexpr const char* kNested = R"(ir_version: 8 opset_import < version: 17 >
graph { node { input: 'c' output: "y" op_type: "If"
    attribute { name: "then_branch" type: GRAPH g { node { output: "a" op_type: "Constant"
      attribute { name: "value_ints" ints: [1, -2, 0x10, 07] type: INTS } } output { name: "a" } } }
    attribute { name: "else_branch" type: 5 g { node { output: "b" op_type: "Constant"
      attribute { name: "value_floats" floats: [1.5, -inf, nan, 1e-3f] type: FLOATS } } output { name: "b" } } } }
  initializer { data_type: 9 name: "c" raw_data: "\001" } output { name: "y" } }
functions { name: "f" domain: "d" input: "a" output: "b" node { input: "a" output: "b" op_type: "Relu" } opset_import { version: 17 } }
)";
constexpr const char* kData = R"(graph { initializer { dims: 2 data_type: 1 float_data: [1, 2] name: "f" }
  initializer { dims: 2 data_type: 8 string_data: "a\n\x41" string_data: '\u00e9' name: "s" }
  initializer { dims: [1] data_type: 11 double_data: 1e400 name: "d" }
  sparse_initializer { values { dims: 1 data_type: 7 int64_data: 5 name: "p" } indices { dims: 1 data_type: 7 int64_data: 1 } dims: 4 }
  initializer { dims: 3 data_type: 1 name: "e" data_location: EXTERNAL external_data { key: "location" value: "x" } } } # end
)";
constexpr std::string_view kWords[] = {"graph {",
                                       "node {",
                                       "attribute {",
                                       "g {",
                                       "}",
                                       "[",
                                       "]",
                                       "<",
                                       ">",
                                       "'",
                                       "\"",
                                       ": ",
                                       "\\u0041",
                                       "\\x",
                                       "-",
                                       "inf",
                                       "nan",
                                       "0x",
                                       "1e999",
                                       "18446744073709551615",
                                       "type: GRAPH",
                                       "dims: ",
                                       "#"};

void run(std::string_view input) {
  const auto message = std::make_shared<const std::string>(onnx::read_proto_text(input));
  parse_model(*message, message, "input", {.external_data_dir = "/proc/self/fdinfo"});
}

std::vector<std::string> seeds() { return {kSmall, kNested, kData}; }

}  // namespace

constinit const Target def = {.name = "proto_text", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_proto_text
