// In which form a file holds a model, and the binary message of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::onnx {

enum class ModelForm : uint8_t {
  kBinary,     ///< protobuf's wire format: .onnx
  kText,       ///< ONNX's text form: .onnxtxt, .onnxtext, .txt
  kProtoText,  ///< protobuf's text format: .textproto, .prototxt, .pbtxt, .txtpb
  kJson,       ///< protobuf's JSON form: .json, .onnxjson
};

/// By how the file begins, since none of the forms begins as another does; where that does not tell, by the
/// ending of its name.
ModelForm form_of(std::string_view path, std::string_view bytes);
/// Of a file that is not there: by the ending of its name.
ModelForm form_of_name(std::string_view path);

/// The ModelProto of a text. Throws Error with line and column. Not for kBinary.
std::string read_form(ModelForm form, std::string_view text);

}  // namespace assay::onnx
