// Types of ONNX's text form: float[N, 3], seq(int64), map(string, float), ...
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx/text/lexer.h"
#include "onnx/writer.h"

namespace assay::onnx {

/// A parsed type.
struct TextType {
  MessageWriter message;     ///< TypeProto
  int kind = 0;              ///< the field of TypeProto that is set: 1 tensor, 8 sparse tensor, ...
  int64_t element_type = 0;  ///< tensors: TensorProto.DataType
  /// Tensors: the extents, if all are numbers.
  std::optional<std::vector<int64_t>> dims;
};

/// Reads a type at a word for which is_text_type() holds. `denotations` are those of the type and of the
/// types in it, outermost first. Throws Error where the text is not a type, and when types nest deeper
/// than 32.
TextType read_type(Lexer& lexer, std::span<const std::string> denotations = {});

}  // namespace assay::onnx
