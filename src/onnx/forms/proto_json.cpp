#include "onnx/forms/proto_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "assay/error.h"
#include "base/base64.h"
#include "base/json_reader.h"
#include "onnx/forms/message_builder.h"
#include "onnx/message_reader.h"

namespace assay::onnx {
namespace proto_json {

class Reader {
 public:
  explicit Reader(std::string_view text) : json_(text, "the JSON text") {}

  MessageWriter model() {
    if (json_.peek() != JsonEvent::kBeginObject) fail_expected("an object, the model");
    json_.next();
    MessageWriter message = object(kModelSchema);
    json_.expect(JsonEvent::kEnd, "the end of the model");
    return message;
  }

 private:
  [[noreturn]] void fail_expected(const std::string& what) {
    const JsonEvent found = json_.next();
    json_.error(fmt::format("expected {}, but found {}", what, json_event_name(found)));
  }
  void check(const std::string& problem) const {
    if (!problem.empty()) json_.error(problem);
  }

  const FieldSchema& field_of(const MessageSchema& schema, std::string_view key) const;
  MessageWriter object(const MessageSchema& schema);
  void field(MessageBuilder& builder, const FieldSchema& f);
  void value(MessageBuilder& builder, const FieldSchema& f);
  void nested(MessageBuilder& builder, const FieldSchema& f);
  void text(MessageBuilder& builder, const FieldSchema& f);
  void number(MessageBuilder& builder, const FieldSchema& f);
  void integer(MessageBuilder& builder, const FieldSchema& f, std::string_view word);
  void real(MessageBuilder& builder, const FieldSchema& f, std::string_view word, bool is_text);

  JsonReader json_;
  int depth_ = 0;
};

const FieldSchema& Reader::field_of(const MessageSchema& schema, std::string_view key) const {
  for (const FieldSchema& f : schema.fields)
    if (f.name == key || json_name(f.name) == key) return f;
  json_.error(unknown_field(schema, key, /*is_json=*/true));
}

/// Reads the rest of an object.
MessageWriter Reader::object(const MessageSchema& schema) {
  MessageBuilder builder(schema);
  while (json_.next_key()) {
    const FieldSchema& f = field_of(schema, json_.string());
    if (json_.peek() == JsonEvent::kNull) {  // treated as absent
      json_.next();
      continue;
    }
    check(builder.begin(f));
    field(builder, f);
  }
  return builder.finish();
}

void Reader::field(MessageBuilder& builder, const FieldSchema& f) {
  if (!f.is_repeated) return value(builder, f);
  if (json_.peek() != JsonEvent::kBeginArray) fail_expected(fmt::format("a list for '{}'", f.name));
  json_.next();
  while (json_.next_element()) value(builder, f);
}

void Reader::value(MessageBuilder& builder, const FieldSchema& f) {
  switch (f.kind) {
    case FieldKind::kMessage:
      return nested(builder, f);
    case FieldKind::kString:
    case FieldKind::kBytes:
      return text(builder, f);
    default:
      return number(builder, f);
  }
}

void Reader::nested(MessageBuilder& builder, const FieldSchema& f) {
  if (json_.peek() != JsonEvent::kBeginObject) fail_expected(fmt::format("an object for '{}'", f.name));
  json_.next();
  if (++depth_ > kMaxDepth) json_.error(fmt::format("messages nest deeper than {}", kMaxDepth));
  builder.message(f, object(*f.message));
  --depth_;
}

/// Base64 in either alphabet, with or without its padding.
std::string decode_any_base64(std::string_view text) {
  if (text.size() % 4 == 0 && text.find_first_of("-_") == std::string_view::npos) return base64_decode(text);
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  while (standard.size() % 4 != 0) standard += '=';
  return base64_decode(standard);
}

void Reader::text(MessageBuilder& builder, const FieldSchema& f) {
  if (json_.peek() != JsonEvent::kString) fail_expected(fmt::format("a string for '{}'", f.name));
  json_.next();
  if (f.kind == FieldKind::kString) return check(builder.bytes(f, json_.string()));
  std::string bytes;
  try {
    bytes = decode_any_base64(json_.string());
  } catch (const Error& e) {
    json_.error(fmt::format("'{}' holds bytes, which JSON has as base64, but: {}", f.name, e.message()));
  }
  builder.bytes(f, bytes);
}

void Reader::number(MessageBuilder& builder, const FieldSchema& f) {
  const JsonEvent event = json_.peek();
  const bool is_text = event == JsonEvent::kString;
  if (event != JsonEvent::kNumber && !is_text) fail_expected(fmt::format("a number for '{}'", f.name));
  json_.next();
  const std::string word(is_text ? json_.string() : json_.number_text());
  if (f.kind == FieldKind::kFloat || f.kind == FieldKind::kDouble) return real(builder, f, word, is_text);
  const bool is_name = is_text && !word.empty() && word[0] != '-' && (word[0] < '0' || word[0] > '9');
  if (f.kind == FieldKind::kEnum && is_name) return check(builder.enumerator(f, word));
  integer(builder, f, word);
}

void Reader::integer(MessageBuilder& builder, const FieldSchema& f, std::string_view word) {
  std::string_view digits = word;
  const bool is_negative = digits.starts_with('-');
  if (is_negative) digits.remove_prefix(1);
  uint64_t magnitude = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (!digits.empty() && end == digits.data() + digits.size() && ec == std::errc())
    return check(builder.integer(f, is_negative, magnitude));
  // 1e3 and 2.0 are whole numbers, too.
  double value = 0;
  const auto [real_end, real_ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr double kExact = 9007199254740992;
  if (!digits.empty() && digits[0] >= '0' && digits[0] <= '9' && real_end == digits.data() + digits.size() &&
      real_ec == std::errc() && value <= kExact && value == std::floor(value))
    return check(builder.integer(f, is_negative, static_cast<uint64_t>(value)));
  json_.error(fmt::format("expected a whole number of at most 64 bits for '{}', but found {}", f.name, word));
}

void Reader::real(MessageBuilder& builder, const FieldSchema& f, std::string_view word, bool is_text) {
  double value = 0;
  if (word == "NaN") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (word == "Infinity" || word == "-Infinity") {
    value =
        word[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  } else if (!is_text) {
    value = json_.as_double();
  } else {
    const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || end != word.data() + word.size() || ec != std::errc())
      json_.error(fmt::format("expected a number for '{}', but found '{}'", f.name, word));
  }
  builder.real(f, value);
}

}  // namespace proto_json

std::string read_proto_json(std::string_view text) { return proto_json::Reader(text).model().bytes(); }

}  // namespace assay::onnx
