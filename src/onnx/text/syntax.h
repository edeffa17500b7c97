// Words of ONNX's text form that its reader (onnx/text/reader.h) and its writer (graph/to_text.h) share.
// docs/reference/text.md describes the syntax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::onnx {

/// Begins a comment that this reader interprets: `#: doc_string "what the node is for"`. Others skip it. It
/// adds properties without syntax to the following element.
inline constexpr std::string_view kAnnotationMark = "#:";

/// Kinds of annotations, by their first word. The strings after it use the escapes \\ \" \n \r.
inline constexpr std::string_view kDocAnnotation = "doc_string";             ///< one string
inline constexpr std::string_view kMetadataAnnotation = "metadata";          ///< a key and a value
inline constexpr std::string_view kDenotationAnnotation = "denotation";      ///< of a type, outermost first
inline constexpr std::string_view kQuantizationAnnotation = "quantization";  ///< a tensor, a key, a value
/// Base64 of a tensor's elements, or of a float attribute's, as in memory: they take precedence over the
/// decimal numbers.
inline constexpr std::string_view kDataAnnotation = "data";

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Letters, digits and `_`, not beginning with a digit.
bool is_text_identifier(std::string_view word);
/// The name, in quotes if it is not an identifier
/// or would be read as a type, `inf` or `nan`.
std::string text_name(std::string_view name);
/// In quotes; quotes and backslashes are escaped by a backslash.
std::string text_string(std::string_view text);
/// In quotes, on one line, for annotations.
std::string annotation_string(std::string_view text);

/// The element type of that name (float, int64, undefined, ...); -1 for other words.
int text_element_type(std::string_view word);
/// True for element types and seq, map, optional, sparse_tensor, opaque.
bool is_text_type(std::string_view word);
/// True for inf, infinity and nan, in upper or lower case.
bool is_text_float_word(std::string_view word);

/// AttributeProto.AttributeType by its name in the text form (int, floats, type_proto, ...); -1 for other
/// words, 0 for `undefined`.
int text_attribute_type(std::string_view word);
/// The name of an AttributeProto.AttributeType; `undefined` for numbers that are none.
std::string_view text_attribute_type_name(int type);

}  // namespace assay::onnx
