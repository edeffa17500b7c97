// Numbers and tensors of ONNX's text form: float[2] {1.5, -inf}, string[1] w = {"a"}, int8[9] b =
// ["location": "b.bin"].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/text/lexer.h"
#include "onnx/text/types.h"
#include "onnx/writer.h"

namespace assay::onnx {

/// Annotations of an element.
struct Notes {
  std::string doc_string;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::string> denotations;
  std::string data;  ///< decoded
  bool has_data = false;
};

/// Consumes the annotations before the next word. `allowed` lists the valid keys, `thing` names the element
/// in errors about others.
Notes claim_notes(Lexer& lexer, std::string_view thing, std::initializer_list<std::string_view> allowed);
/// Writes key and value pairs as StringStringEntryProto.
void write_pairs(MessageWriter& w, uint32_t field,
                 const std::vector<std::pair<std::string, std::string>>& pairs);
/// `["key": "value", ...]`.
std::vector<std::pair<std::string, std::string>> read_pairs(Lexer& lexer);

/// Reads a number as a float (an integer rounds) or as an int64. Throws Error if it is not a number or out of
/// range.
float read_float(Lexer& lexer);
int64_t read_integer(Lexer& lexer);

/// TensorProto: the elements in `{}`, or the place of external data in `[]`, after the type that was read at
/// `type_at`. Throws Error when their number is not what the type needs, at the element that is wrong.
MessageWriter read_tensor_constant(Lexer& lexer, const TextType& type, size_t type_at, std::string_view name,
                                   const Notes& notes);
/// SparseTensorProto: `{values, indices}`, two tensor constants with their types.
MessageWriter read_sparse_constant(Lexer& lexer, const TextType& type, size_t type_at, std::string_view name);

}  // namespace assay::onnx
