// Models in protobuf's text format (.textproto, .prototxt, .pbtxt): what TextFormat and `protoc --decode`
// write.
#pragma once

#include <string>
#include <string_view>

namespace assay::onnx {

/// The protobuf message (ModelProto) of the text. Throws Error (kInvalidModel) with line and
/// column, the line, and what was expected there: also for unknown fields, invalid values, and messages that
/// nest deeper than protobuf's libraries read. Names that are not defined and
/// the like are found when the message is imported.
std::string read_proto_text(std::string_view text);

}  // namespace assay::onnx
