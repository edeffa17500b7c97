// A JSON document as a tree in memory, for files of moderate size whose members come in any order; large ones
// are read event by event (json_reader.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool truth = false;
  double number = 0;
  std::string text = {};
  std::vector<JsonValue> items = {};
  std::vector<std::pair<std::string, JsonValue>> members = {};  ///< in the order of the file

  bool is_object() const { return kind == Kind::kObject; }
  bool is_array() const { return kind == Kind::kArray; }
  /// The member of an object; null where there is none, and in anything else.
  const JsonValue* find(std::string_view key) const;
  /// A member's text or number, and what is given where it is not there or something else.
  std::string text_of(std::string_view key, std::string_view otherwise = {}) const;
  double number_of(std::string_view key, double otherwise = 0) const;
  /// A member's elements; none where it is no array.
  const std::vector<JsonValue>& items_of(std::string_view key) const;
};

/// Throws Error (kInvalidArgument) as JsonReader does; `name` is the file in it.
JsonValue parse_json(std::string_view text, const std::string& name);

}  // namespace assay
