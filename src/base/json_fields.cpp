#include "base/json_fields.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "assay/error.h"

namespace assay {

void JsonFields::refuse(std::string_view what) const {
  fail(ErrorCode::kInvalidArgument, "{} is damaged: {}", name_, what);
}

const JsonValue& JsonFields::member(const JsonValue& object, std::string_view key,
                                    JsonValue::Kind kind) const {
  const JsonValue* v = object.find(key);
  if (v == nullptr || v->kind != kind) refuse(fmt::format("'{}' is missing or not what it must be", key));
  return *v;
}

const std::string& JsonFields::text(const JsonValue& object, std::string_view key) const {
  return member(object, key, JsonValue::Kind::kString).text;
}

double JsonFields::number(const JsonValue& object, std::string_view key) const {
  return member(object, key, JsonValue::Kind::kNumber).number;
}

std::optional<double> JsonFields::maybe(const JsonValue& object, std::string_view key) const {
  return object.find(key) == nullptr ? std::nullopt : std::optional<double>(number(object, key));
}

bool JsonFields::truth(const JsonValue& object, std::string_view key) const {
  return member(object, key, JsonValue::Kind::kBool).truth;
}

int64_t JsonFields::count(const JsonValue& object, std::string_view key) const {
  return count_of(member(object, key, JsonValue::Kind::kNumber), key);
}

int64_t JsonFields::count_of(const JsonValue& value, std::string_view what) const {
  const double n = value.number;
  if (value.kind != JsonValue::Kind::kNumber || !(n >= 0 && n <= 9007199254740992.0) || n != std::floor(n))
    refuse(fmt::format("'{}' is no count", what));
  return static_cast<int64_t>(n);
}

const std::vector<JsonValue>& JsonFields::items(const JsonValue& object, std::string_view key) const {
  return member(object, key, JsonValue::Kind::kArray).items;
}

uint64_t JsonFields::hexadecimal(std::string_view digits, std::string_view what) const {
  uint64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size())
    refuse(fmt::format("'{}' is no number", what));
  return value;
}

}  // namespace assay
