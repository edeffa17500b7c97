// Models in protobuf's JSON form (.json, .onnxjson): what json_format.MessageToJson writes.
#pragma once

#include <string>
#include <string_view>

namespace assay::onnx {

/// The protobuf message (ModelProto) that the JSON document stands for. Fields may have their names in JSON
/// (`opType`) or in onnx.proto (`op_type`). Throws Error with line and column: for what is not JSON, fields
/// that a message does not have, values that do not fit, and messages that nest deeper than protobuf's
/// libraries read.
std::string read_proto_json(std::string_view text);

}  // namespace assay::onnx
