// Models in protobuf's JSON form (.json, .onnxjson): what json_format.MessageToJson writes.
#pragma once

#include <string>
#include <string_view>

namespace assay::onnx {

/// The protobuf message (ModelProto) of the JSON document. Fields may have their names in JSON
/// (`opType`) or in onnx.proto (`op_type`). Throws Error with line and column: for invalid JSON, unknown
/// fields, invalid values, and messages that nest deeper than protobuf's
/// libraries read.
std::string read_proto_json(std::string_view text);

}  // namespace assay::onnx
