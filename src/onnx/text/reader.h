// Reads ONNX's text form: the syntax of onnx.parser and onnx.printer, with the extensions of
// docs/reference/text.md.
#pragma once

#include <string>
#include <string_view>

namespace assay::onnx {

/// True for the extensions of models in this form: .onnxtxt, .onnxtext and .txt.
bool has_text_suffix(std::string_view path);

/// The protobuf message (ModelProto) of the text, so that text and binary files are processed alike. Throws
/// Error (kInvalidModel) with line and column, the line, and what was expected there;
/// also for numbers out of range, constants whose elements are too few or too many, and subgraphs that nest
/// deeper than kMaxGraphDepth. Names that are not defined and the like are found when the message is
/// imported.
std::string read_text(std::string_view text);

}  // namespace assay::onnx
