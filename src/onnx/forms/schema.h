// The messages of onnx.proto as data, for the readers of protobuf's text and JSON forms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::onnx {

enum class FieldKind : uint8_t { kInt32, kInt64, kUInt64, kFloat, kDouble, kString, kBytes, kEnum, kMessage };

struct MessageSchema;

struct EnumValue {
  std::string_view name;
  int32_t number;
};

struct FieldSchema {
  uint32_t number;
  std::string_view name;
  FieldKind kind;
  bool is_repeated = false;
  bool is_packed = false;  ///< repeated numbers in packed encoding
  const MessageSchema* message = nullptr;
  std::span<const EnumValue> values = {};  ///< of an enumeration
};

struct MessageSchema {
  std::string_view name;
  std::span<const FieldSchema> fields;  ///< at most 64
  bool is_union = false;                ///< at most one of the members below `union_end` may be set
  uint32_t union_end = 0;               ///< position in `fields`
};

/// The name of a field in JSON: `op_type` is `opType`.
std::string json_name(std::string_view name);

/// The schema of a whole model.
extern const MessageSchema kModelSchema;

}  // namespace assay::onnx
