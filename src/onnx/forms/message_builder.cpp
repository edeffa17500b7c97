#include "onnx/forms/message_builder.h"

#include <fmt/core.h>

#include <cstring>
#include <limits>
#include <vector>

#include "base/similar_name.h"
#include "base/utf8.h"

namespace assay::onnx {
namespace message_builder {

template <typename T>
void append_little(T value, std::string& out) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out.append(raw, sizeof value);
}

float to_float(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  // Conversion out of range is undefined; numbers that round to the largest are in range.
  if (value > kMax * (1 + 0x1p-25)) return std::numeric_limits<float>::infinity();
  if (value < -kMax * (1 + 0x1p-25)) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

}  // namespace message_builder

std::string MessageBuilder::begin(const FieldSchema& field) {
  const auto position = static_cast<uint32_t>(&field - schema_.fields.data());
  if (field.is_repeated) return {};
  if ((seen_ >> position & 1) != 0) return fmt::format("'{}' is given twice in {}", field.name, schema_.name);
  if (schema_.is_union && position < schema_.union_end)
    for (uint32_t other = 0; other < schema_.union_end; ++other)
      if ((seen_ >> other & 1) != 0)
        return fmt::format("{} has either '{}' or '{}', not both", schema_.name, schema_.fields[other].name,
                           field.name);
  seen_ |= uint64_t{1} << position;
  return {};
}

void MessageBuilder::number(const FieldSchema& field, uint64_t varint) {
  if (field.is_packed)
    protozero::add_varint_to_buffer(&packed_[field.number], varint);
  else
    writer_.varint(field.number, varint);
}

std::string MessageBuilder::integer(const FieldSchema& field, bool is_negative, uint64_t magnitude) {
  if (field.kind == FieldKind::kFloat || field.kind == FieldKind::kDouble) {
    const auto value = static_cast<double>(magnitude);
    return real(field, is_negative ? -value : value), std::string();
  }
  uint64_t most = std::numeric_limits<uint64_t>::max();
  const char* name = "uint64";
  if (field.kind == FieldKind::kInt64) {
    most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (is_negative ? 1 : 0);
    name = "int64";
  } else if (field.kind == FieldKind::kInt32 || field.kind == FieldKind::kEnum) {
    most = static_cast<uint64_t>(std::numeric_limits<int32_t>::max()) + (is_negative ? 1 : 0);
    name = "int32";
  } else if (is_negative) {
    most = 0;
  }
  if (magnitude > most)
    return fmt::format("{}{} does not fit '{}', which is {}", is_negative ? "-" : "", magnitude, field.name,
                       name);
  number(field, is_negative ? 0 - magnitude : magnitude);
  return {};
}

std::string MessageBuilder::enumerator(const FieldSchema& field, std::string_view name) {
  for (const EnumValue& v : field.values)
    if (v.name == name) return number(field, static_cast<uint64_t>(v.number)), std::string();
  std::vector<std::string_view> names;
  for (const EnumValue& v : field.values) names.push_back(v.name);
  const std::string hint = name_hint(name, names);
  return fmt::format("'{}' is no value of '{}'{}{}", name, field.name, hint.empty() ? "" : ". ", hint);
}

void MessageBuilder::real(const FieldSchema& field, double value) {
  std::string raw;
  std::string& out = field.is_packed ? packed_[field.number] : raw;
  if (!field.is_packed)
    protozero::add_varint_to_buffer(&out, field.number << 3 | (field.kind == FieldKind::kFloat ? 5u : 1u));
  if (field.kind == FieldKind::kFloat)
    message_builder::append_little(message_builder::to_float(value), out);
  else
    message_builder::append_little(value, out);
  writer_.copied(raw);
}

std::string MessageBuilder::bytes(const FieldSchema& field, std::string_view value) {
  if (field.kind == FieldKind::kString && !is_utf8(value))
    return fmt::format("'{}' is a text, but these bytes are not UTF-8", field.name);
  writer_.text(field.number, value);
  return {};
}

MessageWriter MessageBuilder::finish() {
  for (const auto& [field, elements] : packed_) writer_.text(field, elements);
  packed_.clear();
  return std::move(writer_);
}

std::string unknown_field(const MessageSchema& schema, std::string_view name, bool is_json) {
  std::vector<std::string> names;
  for (const FieldSchema& f : schema.fields)
    names.push_back(is_json ? json_name(f.name) : std::string(f.name));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  constexpr size_t kWorthAHint = 3;  // shorter names are contained in too many
  const std::string hint = name.size() < kWorthAHint ? std::string() : name_hint(name, candidates);
  return fmt::format("{} has no field '{}'{}{}", schema.name, name, hint.empty() ? "" : ". ", hint);
}

}  // namespace assay::onnx
