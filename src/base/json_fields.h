// Members of JSON objects that a program has written itself, read with checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"

namespace assay {

/// Reads members of objects; every misfit is an Error (kInvalidArgument) that names the file.
class JsonFields {
 public:
  /// `name`: the file in errors; it outlives the object.
  explicit JsonFields(const std::string& name) : name_(name) {}

  const std::string& name() const { return name_; }
  [[noreturn]] void refuse(std::string_view what) const;
  const JsonValue& member(const JsonValue& object, std::string_view key, JsonValue::Kind kind) const;
  const std::string& text(const JsonValue& object, std::string_view key) const;
  double number(const JsonValue& object, std::string_view key) const;
  /// Nothing where it is missing.
  std::optional<double> maybe(const JsonValue& object, std::string_view key) const;
  bool truth(const JsonValue& object, std::string_view key) const;
  /// Integers from 0 to 2^53.
  int64_t count(const JsonValue& object, std::string_view key) const;
  int64_t count_of(const JsonValue& value, std::string_view what) const;
  const std::vector<JsonValue>& items(const JsonValue& object, std::string_view key) const;
  uint64_t hexadecimal(std::string_view digits, std::string_view what) const;

 private:
  const std::string& name_;
};

}  // namespace assay
