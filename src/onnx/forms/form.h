// The form of a model file, and conversion to the binary message.
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

/// Determined by the first bytes, which differ between
/// forms; if they do not decide, by the extension.
ModelForm form_of(std::string_view path, std::string_view bytes);
/// For a file that does not exist: by its extension.
ModelForm form_of_name(std::string_view path);

/// The ModelProto of a text. Throws Error with line and column. Not for kBinary.
std::string read_form(ModelForm form, std::string_view text);

}  // namespace assay::onnx
