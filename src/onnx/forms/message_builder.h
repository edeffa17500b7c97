// Builds messages field by field according to a schema, for the readers of protobuf's text and JSON forms.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "onnx/forms/schema.h"
#include "onnx/writer.h"

namespace assay::onnx {

/// One message. The caller supplies fields; members
/// that return a text return an error, or nothing.
class MessageBuilder {
 public:
  explicit MessageBuilder(const MessageSchema& schema) : schema_(schema) {}

  const MessageSchema& schema() const { return schema_; }
  /// Call it for every field that occurs, once for a list: a duplicate field or a second member of a union is
  /// an error.
  std::string begin(const FieldSchema& field);

  /// One value of a number or an enumeration; `is_negative` and `magnitude` make the number.
  std::string integer(const FieldSchema& field, bool is_negative, uint64_t magnitude);
  std::string enumerator(const FieldSchema& field, std::string_view name);
  void real(const FieldSchema& field, double value);
  /// A text must be UTF-8; bytes may be anything.
  std::string bytes(const FieldSchema& field, std::string_view value);
  void message(const FieldSchema& field, const MessageWriter& m) { writer_.message(field.number, m); }

  /// Returns the message and empties the builder.
  MessageWriter finish();

 private:
  void number(const FieldSchema& field, uint64_t varint);

  const MessageSchema& schema_;
  uint64_t seen_ = 0;  ///< by position in the schema
  MessageWriter writer_;
  std::map<uint32_t, std::string> packed_;  ///< by number of the field
};

/// The error for an unknown field, with suggestions.
std::string unknown_field(const MessageSchema& schema, std::string_view name, bool is_json);

}  // namespace assay::onnx
