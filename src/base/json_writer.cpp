#include "base/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/python_repr.h"

namespace assay {
namespace {

/// Takes one character of UTF-8 off the text. Surrogates in three bytes pass; any other broken byte becomes
/// U+DC00 plus the byte.
uint32_t take_code_point(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t c = byte(0);
  const size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
  bool valid = n > 0 && n <= text.size();
  uint32_t point = n <= 1 ? c : c & (0x7fu >> n);
  for (size_t i = 1; valid && i < n; ++i) {
    valid = (byte(i) & 0xc0) == 0x80;
    point = point << 6 | (byte(i) & 0x3f);
  }
  valid = valid && !(n == 3 && point < 0x800) && !(n == 4 && (point < 0x10000 || point > 0x10ffff));
  text.remove_prefix(valid ? n : 1);
  return valid ? point : 0xdc00 + c;
}

void append_escaped(uint32_t point, std::string& out) {
  switch (point) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\b':
      out += "\\b";
      return;
    default:
      break;
  }
  if (point >= 0x20 && point < 0x7f) {
    out += static_cast<char>(point);
  } else if (point < 0x10000) {
    out += fmt::format("\\u{:04x}", point);
  } else {
    point -= 0x10000;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff));
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) append_escaped(take_code_point(text), out);
  return out + '"';
}

JsonWriter::JsonWriter(AtomicFile& file) : sink_([&file](std::string_view text) { file.write(text); }) {}

void JsonWriter::new_line() { sink_("\n" + std::string(4 * levels_.size(), ' ')); }

void JsonWriter::before_value() {
  require(!done_ && !in_base64_, ErrorCode::kInternal, "a JSON value was written where none may stand");
  if (levels_.empty()) return;
  Level& level = levels_.back();
  require(level.where != Where::kObject, ErrorCode::kInternal, "a JSON value was written without its key");
  if (level.where == Where::kAfterKey) {
    level.where = Where::kObject;
    return;
  }
  if (!level.empty) sink_(",");
  level.empty = false;
  new_line();
}

JsonWriter& JsonWriter::key(std::string_view name) {
  require(!levels_.empty() && levels_.back().where == Where::kObject && !in_base64_, ErrorCode::kInternal,
          "the JSON key {} was written outside an object", name);
  Level& level = levels_.back();
  if (!level.empty) sink_(",");
  level.empty = false;
  level.where = Where::kAfterKey;
  new_line();
  sink_(json_quoted(name));
  sink_(": ");
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  levels_.push_back({Where::kObject});
  sink_("{");
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value();
  levels_.push_back({Where::kArray});
  sink_("[");
  return *this;
}

void JsonWriter::end(Where where, char bracket) {
  require(!levels_.empty() && levels_.back().where == where && !in_base64_, ErrorCode::kInternal,
          "a JSON container was ended that is not open");
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) new_line();
  sink_({&bracket, 1});
  done_ = levels_.empty();
}

JsonWriter& JsonWriter::end_object() {
  end(Where::kObject, '}');
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  end(Where::kArray, ']');
  return *this;
}

JsonWriter& JsonWriter::scalar(std::string_view text) {
  before_value();
  sink_(text);
  done_ = levels_.empty();
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return scalar(json_quoted(text)); }
JsonWriter& JsonWriter::value(int64_t number) { return scalar(std::to_string(number)); }
JsonWriter& JsonWriter::value(bool truth) { return scalar(truth ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return scalar("null"); }

JsonWriter& JsonWriter::value(double number) {
  if (std::isnan(number)) return scalar("NaN");
  if (std::isinf(number)) return scalar(number < 0 ? "-Infinity" : "Infinity");
  return scalar(python_float_repr(number));
}

JsonWriter& JsonWriter::begin_base64() {
  before_value();
  sink_("\"");
  in_base64_ = true;
  return *this;
}

JsonWriter& JsonWriter::base64_chunk(const void* data, size_t bytes) {
  constexpr size_t kPiece = 3 << 15;
  require(in_base64_, ErrorCode::kInternal, "base64 was written outside its string");
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const size_t n = std::min(bytes, kPiece);
    buffer_.clear();
    encoder_.append(p, n, buffer_);
    sink_(buffer_);
    p += n;
    bytes -= n;
  }
  return *this;
}

JsonWriter& JsonWriter::end_base64() {
  require(in_base64_, ErrorCode::kInternal, "a base64 string was ended that is not open");
  buffer_.clear();
  encoder_.finish(buffer_);
  buffer_ += '"';
  sink_(buffer_);
  in_base64_ = false;
  done_ = levels_.empty();
  return *this;
}

}  // namespace assay
