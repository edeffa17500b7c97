#include "base/json_value.h"

#include <algorithm>

#include "base/json_reader.h"

namespace assay {
namespace {

/// The depth is that which JsonReader allows.
JsonValue read_value(JsonReader& reader) {
  JsonValue value;
  const JsonEvent event = reader.next();
  switch (event) {
    case JsonEvent::kBeginObject:
      value.kind = JsonValue::Kind::kObject;
      while (reader.next_key()) {
        std::string key(reader.string());
        value.members.emplace_back(std::move(key), read_value(reader));
      }
      break;
    case JsonEvent::kBeginArray:
      value.kind = JsonValue::Kind::kArray;
      while (reader.next_element()) value.items.push_back(read_value(reader));
      break;
    case JsonEvent::kString:
      value.kind = JsonValue::Kind::kString;
      value.text = reader.string();
      break;
    case JsonEvent::kNumber:
      value.kind = JsonValue::Kind::kNumber;
      value.number = reader.as_double();
      break;
    case JsonEvent::kTrue:
    case JsonEvent::kFalse:
      value.kind = JsonValue::Kind::kBool;
      value.truth = event == JsonEvent::kTrue;
      break;
    default:
      break;
  }
  return value;
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

std::string JsonValue::text_of(std::string_view key, std::string_view otherwise) const {
  const JsonValue* value = find(key);
  return value != nullptr && value->kind == Kind::kString ? value->text : std::string(otherwise);
}

double JsonValue::number_of(std::string_view key, double otherwise) const {
  const JsonValue* value = find(key);
  return value != nullptr && value->kind == Kind::kNumber ? value->number : otherwise;
}

const std::vector<JsonValue>& JsonValue::items_of(std::string_view key) const {
  static const std::vector<JsonValue> none;
  const JsonValue* value = find(key);
  return value != nullptr && value->is_array() ? value->items : none;
}

JsonValue parse_json(std::string_view text, const std::string& name) {
  JsonReader reader(text, name);
  JsonValue value = read_value(reader);
  reader.expect(JsonEvent::kEnd, "the end of the document");
  return value;
}

}  // namespace assay
