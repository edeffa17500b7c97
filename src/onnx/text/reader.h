// ONNX's text form read: the syntax of onnx.parser and onnx.printer, with what docs/reference/text.md adds to
// it.
#pragma once

#include <string>
#include <string_view>

namespace assay::onnx {

/// True for the endings of names under which models are saved in this form: .onnxtxt, .onnxtext and .txt.
bool has_text_suffix(std::string_view path);

/// The protobuf message (ModelProto) that the text stands for, so that text and binary files take one way
/// from here on. Throws Error (kInvalidModel) with line and column, the line, and what was expected there;
/// also for numbers out of range, constants whose elements are too few or too many, and subgraphs that nest
/// deeper than kMaxGraphDepth. Names that are not defined and the like are found when the message is
/// imported.
std::string read_text(std::string_view text);

}  // namespace assay::onnx
